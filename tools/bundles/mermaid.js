// @ts-check
import mermaid from "mermaid/dist/mermaid.esm.min.mjs";

globalThis.mermaid = mermaid;
