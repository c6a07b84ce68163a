// Preloaded into a command under test: kills it before or after a call of node:fs on a master key, as KILLED_AT says.
const fs = require('node:fs')

const [name, when] = process.env.KILLED_AT.split(' ')
const real = fs[name]
fs[name] = (...args) => {
  if (!String(args[0]).includes('master.key')) return real(...args)
  if (when === 'after') real(...args)
  process.kill(process.pid, 'SIGKILL')
}
