import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { bin } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import type { Result, Torture } from './torture.ts'

/** Every control, bidirectional, zero-width and otherwise invisible character, and harmful escape sequences. */
const hostile = [
  ...Array.from({ length: 32 }, (_, i) => String.fromCharCode(i)),
  ...Array.from({ length: 33 }, (_, i) => String.fromCharCode(0x7f + i)),
  ...'\u00ad\u061c\u115f\u180e\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff\ufff9\u{e0041}',
  '\u001b]0;owned\u0007',
  '\u001b[2J\u001b[H',
  '\u001b]52;c;b3duZWQ=\u0007',
  '\u009b31m',
]

/** Allowed on a terminal: text, newlines, and the colours that svc sets. */
const harm = (seen: string): string | undefined => {
  // oxlint-disable-next-line no-control-regex
  const text = seen.replace(/\u001b\[(?:\d{1,2}(?:;\d{1,3})*)?m/g, '').replaceAll(/\r\n/g, '\n')
  return /[^\P{C}\n\t]|[\u2028\u2029\u115f]/u.exec(text)?.[0]
}

const onTerminal = async (command: string, env: Record<string, string>): Promise<string> => {
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { PATH: process.env.PATH, TERM: 'xterm-256color', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let seen = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (seen += text))
  await once(child, 'close')
  return seen
}

const commands = [
  'org list',
  'org list -o json',
  'org list -o yaml',
  'org list -o csv',
  'org list -o tsv',
  'org list -o ndjson',
  'org list -o id',
  'org get x',
  'org create --name x',
  'api /organizations',
  'api /organizations -i',
  'org list --debug',
]

export const torture: Torture = {
  name: 'Terminal safety: hostile characters in every field that a server sends, on a pty',
  must: '0 reach the terminal',
  run: async (): Promise<Result> => {
    const folder = temporaryFolder()
    let text = ''
    let status = 200
    const server = createServer((request, response) => {
      const record = {
        id: 1,
        name: text,
        slug: text,
        [`key${text}`]: text,
        created_at: text,
        policy: { note: [text] },
      }
      const list = request.url!.endsWith('/organizations')
      const good = {
        status: 'success',
        message: text,
        data: list ? [record, { ...record, id: text }] : record,
      }
      const bad = {
        status: text,
        message: text,
        data: { code: text, hint: text, issues: [{ field: text, message: text }] },
      }
      response.writeHead(status, {
        'content-type': 'application/json',
        'x-request-id': encodeURI(text.toWellFormed()),
      })
      response.end(JSON.stringify(status < 300 ? good : bad))
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const env = {
      SVC_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/admin/public/api`,
      SVC_API_KEY: 'svc_org_terminal_0123456789',
      SVC_CONFIG_DIR: folder.path,
    }
    const examples: string[] = []
    let count = 0
    let failures = 0
    let carried = 0
    try {
      for (status of [200, 422])
        for (const command of commands)
          for (const group of [hostile.slice(0, 40), hostile.slice(40)]) {
            text = `a${group.join('b')}c`
            count += group.length
            const seen = await onTerminal(`'${process.execPath}' '${bin}' ${command}`, env)
            if (seen.includes('a')) carried++
            const bad = harm(seen)
            if (bad === undefined) continue
            failures++
            examples.push(`svc ${command} (${status}): U+${bad.codePointAt(0)!.toString(16)}`)
          }
      const raw = await onTerminal(`printf 'a\\033]0;owned\\007\\342\\200\\256b'`, {})
      return {
        count,
        failures,
        hits: { 'responses shown': carried },
        control: harm(raw) === undefined ? 0 : 1,
        examples: examples.slice(0, 8),
      }
    } finally {
      server.close()
      folder.remove()
    }
  },
}
