"""The moving pictures of the chapters: each module makes one `Film` with the functions of `lib`."""
