import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { svc } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import type { Result, Torture } from './torture.ts'

const canary = 'svc_org_canary00_RedirectsMustNeverCarryThisKeyAnywhereElse'

const listen = async (
  answer: Parameters<typeof createServer>[1],
): Promise<{ server: Server; port: number }> => {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return { server, port: (server.address() as AddressInfo).port }
}

const received = (request: IncomingMessage): string =>
  JSON.stringify(request.rawHeaders) + String(request.url)

const codes = [301, 302, 303, 307, 308]
const commands = [
  ['org', 'list'],
  ['org', 'create', '--name', 'Acme'],
  ['api', '/organizations'],
]

export const torture: Torture = {
  name: 'Redirects: 5 status codes to another host, port or scheme',
  must: '0 bytes of a secret at the second hop',
  run: async (): Promise<Result> => {
    const folder = temporaryFolder()
    const second: string[] = []
    const firstHops: string[] = []
    const hop = await listen((request, response) => {
      second.push(received(request))
      response.end('{"status":"success","message":"ok","data":[]}')
    })
    const targets: Record<string, string> = {
      host: `http://localhost:${hop.port}/admin/public/api/organizations`,
      port: `http://127.0.0.1:${hop.port}/admin/public/api/organizations`,
      scheme: `https://127.0.0.1:${hop.port}/admin/public/api/organizations`,
    }
    let code = 0
    let location = ''
    const first = await listen((request, response) => {
      firstHops.push(received(request))
      response.writeHead(code, { location }).end()
    })
    const baseUrl = `http://127.0.0.1:${first.port}/admin/public/api`
    const env = { SVC_BASE_URL: baseUrl, SVC_API_KEY: canary, SVC_CONFIG_DIR: folder.path }
    const examples: string[] = []
    let count = 0
    let failures = 0
    let control = 0
    const hits: Record<string, number> = { host: 0, port: 0, scheme: 0 }
    try {
      for (code of codes)
        for (const [kind, target] of Object.entries(targets)) {
          location = target
          for (const args of commands) {
            count++
            const { exit, stdout, stderr } = await svc(args, env)
            // `svc api` prints the response. Every other command fails on a redirect.
            const leaked = second.length > 0 || (stdout + stderr).includes(canary)
            if (exit === 0 || leaked) {
              failures++
              examples.push(`${code} to another ${kind}, svc ${args.join(' ')}: exit ${exit}`)
            }
            second.length = 0
          }
          hits[kind]! += commands.length
          // The broken variant follows redirects, as fetch does by default.
          await fetch(baseUrl, { headers: { 'x-api-key': canary } }).catch(() => undefined)
          control += second.filter((text) => text.includes(canary)).length
          second.length = 0
        }
      if (!firstHops.every((text) => text.includes(canary))) failures++
      return { count, failures, hits: { ...hits, 'first hops': firstHops.length }, control, examples }
    } finally {
      first.server.close()
      hop.server.close()
      folder.remove()
    }
  },
}
