import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bearer, play, server, textOf } from './story.mjs'

const cli = fileURLToPath(
  new URL('node_modules/@modelcontextprotocol/inspector-cli/build/cli.js', import.meta.url),
)
const target = server.command
  ? [
      ...Object.entries(server.env).flatMap(([name, value]) => ['-e', `${name}=${value}`]),
      server.command,
      ...server.args,
    ]
  : [server.url, '--transport', 'http']
const headers = Object.entries(bearer).flatMap(([name, value]) => ['--header', `${name}: ${value}`])

const inspect = async (method, ...more) => {
  const args = [cli, '--cli', ...target, ...headers, '--method', method, ...more]
  return JSON.parse((await promisify(execFile)(process.execPath, args)).stdout)
}

await play({
  list: async () => (await inspect('tools/list')).tools.map(({ name }) => name),
  ask: async (given) => {
    const args = Object.entries(given).flatMap(([name, value]) => ['--tool-arg', `${name}=${value}`])
    return textOf(await inspect('tools/call', '--tool-name', 'request_approval', ...args))
  },
})
