// Rolldown plugins that leave out of the bundle what a short command would load and never use.

/** `conf` brings a JSON-schema validator, most of what it weighs. We give it no schema, so it never calls it. */
export const withoutAjv = {
  name: 'without-ajv',
  resolveId: (id, importer) =>
    /^ajv(-formats)?(\/|$)/.test(id) && importer?.includes('/node_modules/conf/') ? '\0no-ajv' : undefined,
  load: (id) => (id === '\0no-ajv' ? 'export const Ajv2020 = undefined; export default {}' : undefined),
}

/**
 * `conf` removes its temporary file at the end of the process through `when-exit`, which listens to 16 signals from the
 * moment it is loaded and sends each one again. In a service that is a second SIGTERM. The profile store removes
 * temporary files that are left over.
 */
export const withoutSignalListeners = {
  name: 'without-signal-listeners',
  resolveId: (id) => (id === 'when-exit' ? '\0no-when-exit' : undefined),
  load: (id) => (id === '\0no-when-exit' ? 'export default () => () => undefined' : undefined),
}

// HTTP/2, form bodies and the parser for processors without SIMD are more than half of undici's client. Our client
// never or hardly ever reaches them, so they stay in node_modules and are loaded from there if it does.
const rare = {
  'client-h2': 'module.exports = (...given) => require("undici/lib/dispatcher/client-h2.js")(...given)',
  body: 'module.exports = { extractBody: (...given) => require("undici/lib/web/fetch/body.js").extractBody(...given) }',
  'llhttp-wasm': 'module.exports = require("undici/lib/llhttp/llhttp-wasm.js")',
}
export const rareUndici = {
  name: 'rare-undici',
  resolveId: (id, importer) => {
    if (importer?.startsWith('\0rare:')) return { id, external: true }
    const name = /(?:dispatcher|\.)\/(client-h2)|web\/fetch\/(body)|llhttp\/(llhttp-wasm)(?:\.js)?$/.exec(id)
    return name && importer?.includes('/node_modules/undici/lib/')
      ? `\0rare:${name[1] ?? name[2] ?? name[3]}`
      : undefined
  },
  load: (id) => (id.startsWith('\0rare:') ? rare[id.slice('\0rare:'.length)] : undefined),
}

/** Commander asks for `child_process` at once and uses it for commands in files of their own, which we have none of. */
export const lazyChildProcess = {
  name: 'lazy-child-process',
  resolveId: (id, importer) =>
    id === 'node:child_process' && importer?.includes('/node_modules/commander/') ? '\0spawn' : undefined,
  load: (id) =>
    id === '\0spawn'
      ? 'module.exports = { spawn: (...given) => require("node:child_process").spawn(...given) }'
      : undefined,
}
