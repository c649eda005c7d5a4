"""Say in one sentence why pip failed, and what to do about it.

pip ends with "No matching distribution found" when there is no network, when a version needs another Python
and when it does not exist. What tells them apart is in the lines before, some only in the log that pip
writes on request. The set-up needs this before anything is installed: standard library only.
"""

import errno
import json
import platform
import re

from tools.console import ROOT, plain

# A line of pip's log begins with the time.
STAMP = re.compile(r"^\d{4}-\d\d-\d\dT[\d:,]+ ", re.MULTILINE)

SPACE = (errno.ENOSPC, errno.EDQUOT)
FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)

# What pip shows of a connection that failed, and what to say: certificates before proxies before the network,
# as each shows the later ones' words too.
TLS = (
    "the secure connection to the package index failed ({}): set the clock, or name your network's "
    "certificates with PIP_CERT=, and run make again."
)
PROXY = (
    "the proxy does not let pip through ({}): correct https_proxy or pip's own proxy setting and "
    "run make again."
)
NETWORK = "the package index was not reached ({}): connect to the network and run make again."
REFUSED = "the package index refused ({}): correct its address or your password in pip's settings."
CONNECTION = (
    (r"certificate verify failed[^()']*", TLS),
    (r"problem confirming the ssl certificate", TLS),
    (r"Could not find a suitable TLS CA certificate bundle, invalid path: \S+", TLS),
    (r"SSLError|SSLZeroReturnError|SSLEOFError|WRONG_VERSION_NUMBER|RECORD_LAYER_FAILURE", TLS),
    (r"407 Proxy Authentication Required", PROXY),
    (r"Cannot connect to proxy|Unable to connect to proxy|proxy connection error|ProxyError", PROXY),
    (r"Connection refused|Network is unreachable|No route to host|Connection reset by peer", NETWORK),
    (r"Temporary failure in name resolution|Name or service not known|nodename nor servname", NETWORK),
    (r"[Rr]ead timed out|[Cc]onnect(?:ion)? timed out", NETWORK),
    (r"ConnectTimeout|ReadTimeout|NewConnectionError|NameResolutionError", NETWORK),
    (r"RemoteDisconnected|IncompleteRead|IncompleteDownload", NETWORK),
    (r"[Cc]onnection broken|connection error|too many \d+ error responses|5\d\d Server Error", NETWORK),
    (r"40[13] Client Error: [^\n]*?(?= for url)", REFUSED),
)


def not_found(text):
    """The requirement that pip gave up on, as `name==version`, or nothing if it failed otherwise."""
    found = re.search(r"No matching distribution found for ([\w.-]+==[\w.+]*\w)", text)
    return found[1] if found else ""


def another_python():
    """How to use another Python, and which the pins were found to have wheels for, if that is known."""
    try:
        record = json.loads((ROOT / "tools" / "pins.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        record = {"combinations": []}
    found = [each["python"] for each in record["combinations"] if each["verdict"] == "ok"]
    working = f" ({found[0]} to {found[-1]})" if found else ""
    return f"name another Python{working} with `make PYTHON=/path/to/python3`"


# --- one function for each kind of failure: a sentence, or nothing if it is not that ------------------------


def system_error(number, detail):
    """A full disk and a missing permission, told by their number."""
    if number in SPACE:
        advice = "free at least 4 GB (or set TMPDIR to a folder on another disk) and run make again"
        return f"there is no space left on the device ({detail}): {advice}."
    if number in FORBIDDEN:
        advice = "run make as the owner of the folder, or clone where you may write"
        return f"permission was denied ({detail}): {advice}."
    return ""


def of_the_system(text):
    """What pip or ensurepip says of an error of the system."""
    found = re.findall(r"(?:OSError|PermissionError|ERROR)\b.*?(\[Errno (\d+)\][^\n]*)", text)
    sentences = (system_error(int(number), detail.strip().rstrip(".")) for detail, number in found)
    return next(filter(None, sentences), "")


def of_the_python(text, version):
    """The version that is asked for exists, and its authors say that it does not run here."""
    found = re.search(r"Package '(\S+)' requires a different Python: \S+ not in '([^']+)'", text)
    if found:
        return f"{found[1]} needs Python {found[2]} and this is {version}: {another_python()}."
    name, _, number = not_found(text).partition("==")
    ignored = re.search(rf"[:;] {re.escape(number)} Requires-Python ([^;\n]+)", text)
    if not (name and ignored):
        return ""
    return f"{name} {number} needs Python {ignored[1]} and this is {version}: {another_python()}."


def of_the_connection(text):
    """The index was not reached, or did not let pip in."""
    found = ((re.search(pattern, text), sentence) for pattern, sentence in CONNECTION)
    return next((sentence.format(match[0].strip()) for match, sentence in found if match), "")


def of_the_index(text, version):
    """The index was asked and does not have it: say what it has instead."""
    name, _, number = not_found(text).partition("==")
    if not name:
        return ""
    file_of_it = re.escape(name).replace(r"\-", "[-_.]").replace("_", "[-_.]") + "-" + re.escape(number)
    if re.search(rf"none of the wheel's tags .*/{file_of_it}[-+%]", text, re.IGNORECASE):
        here = f"Python {version} on {platform.system()} {platform.machine()}"
        return f"{name} {number} has no wheel for {here}: {another_python()}."
    if "Ignoring indexes:" in text:
        advice = "unset PIP_NO_INDEX, or no-index in pip's configuration, and run make again"
        return f"pip was told to use no package index, and {name} {number} is not among its files: {advice}."
    untrusted = re.search(r"repository located at (\S+) is not a trusted", text)
    if untrusted:
        return f"the package index {untrusted[1]} is not secure and pip ignores it: use its https address."
    offered = re.search(r"\(from versions: ([^)]*)\)", text)
    newest = offered[1].split(", ")[-1] if offered else "none"
    has = "does not have the package" if newest == "none" else f"has it only up to {newest}"
    return f"{name} {number} is not on the package index, which {has}: use an index that is up to date."


def of_the_files(text):
    """A file that was changed on its way, and pins that exclude each other."""
    if "DO NOT MATCH THE HASHES" in text:
        found = re.search(r"^ +([\w.-]+==\S+).*\n +Expected sha256", text, re.MULTILINE)
        name = found[1] if found else "a package"
        return f"{name} is not the file that was tested, as its hash shows: run make again, later."
    if "ResolutionImpossible" in text and "conflicting dependencies" in text:
        return "the pins contradict each other: run `python -m tools.resolve_pins`, which says which."
    return ""


def explain(output, log, code, what, version):
    """One sentence on what really failed, from what pip printed and what it wrote to its log."""
    text = STAMP.sub("", plain(f"{output}\n{log}"))
    if code < 0:
        advice = "if it was for want of memory, close other programs, and run make again"
        return f"{what} was not installed, because pip was stopped by signal {-code}: {advice}."
    known = (
        of_the_system(text)
        or of_the_files(text)
        or of_the_python(text, version)
        or of_the_connection(text)
        or of_the_index(text, version)
    )
    if known:
        return f"{what} was not installed, because {known}"
    errors = [line for line in text.splitlines() if line.startswith("ERROR")] or output.splitlines()
    reason = errors[-1].replace("ERROR: ", "").strip().rstrip(".") if errors else f"exit code {code}"
    return f"{what} was not installed ({reason}): correct that and run make again."
