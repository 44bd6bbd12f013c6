// Tether's pure core under Pyodide, with the same names as in Python.
//
//   import init, { ContextEngine, EncoderConfig } from "tether-pack";
//   await init({ loadPyodide, indexURL, core });
//   const config = EncoderConfig.new().with_format("claude-xml").with_frozen(true);
//   const text = ContextEngine.with_config(config).serialize_files([{ path, content }]);

let python = null;
let starting = null;

/** Load Python and the core, once. `core` is the address of core.zip; the default is beside this file. */
export default function init({ loadPyodide, indexURL, core = new URL("./core.zip", import.meta.url) } = {}) {
  starting ??= start(loadPyodide, indexURL, core);
  return starting;
}

async function start(loadPyodide, indexURL, core) {
  const load = loadPyodide ?? (await import("pyodide")).loadPyodide;
  const runtime = await load(indexURL ? { indexURL } : {});
  const answer = await fetch(core);
  if (!answer.ok) throw new Error(`cannot load ${core}: ${answer.status}`);
  runtime.unpackArchive(await answer.arrayBuffer(), "zip", { extractDir: "/tether-core" });
  runtime.runPython("import sys; sys.path.insert(0, '/tether-core')");
  python = runtime.pyimport("tether.pack.browser");
}

function ready() {
  if (python === null) throw new Error("await init() first");
  return python;
}

/** Translate Python's exceptions: the last line says what is wrong. */
function ask(call) {
  try {
    return call();
  } catch (error) {
    const lines = String(error.message ?? error).trim().split("\n");
    throw new Error(lines[lines.length - 1]);
  }
}

/** How to pack. Every `with_…` gives a new configuration. */
export class EncoderConfig {
  constructor(proxy) {
    this.proxy = proxy;
  }

  static new() {
    return new EncoderConfig(ready().EncoderConfig.new());
  }

  with_format(name) {
    return new EncoderConfig(ask(() => this.proxy.with_format(name)));
  }

  with_frozen(frozen = true) {
    return new EncoderConfig(ask(() => this.proxy.with_frozen(frozen)));
  }

  with_lens(name) {
    return new EncoderConfig(ask(() => this.proxy.with_lens(name)));
  }

  with_budget(budget, strategy = "hybrid") {
    return new EncoderConfig(ask(() => this.proxy.with_budget(budget, strategy)));
  }

  with_allow_sensitive(allow = true) {
    return new EncoderConfig(ask(() => this.proxy.with_allow_sensitive(allow)));
  }

  with_timestamp(timestamp) {
    return new EncoderConfig(ask(() => this.proxy.with_timestamp(timestamp)));
  }
}

/** Packs files under one configuration. */
export class ContextEngine {
  constructor(proxy) {
    this.proxy = proxy;
  }

  static with_config(config) {
    return new ContextEngine(ready().ContextEngine.with_config(config.proxy));
  }

  /** `[{path, content}]` → text. */
  serialize_files(files) {
    return ask(() => this.proxy.serialize_files(files));
  }
}
