import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, watch, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createPerson, remote, type Person } from './person.ts'
import { bin } from './processes.ts'

// `svc serve` as a user starts it: folders from the environment, and the profile `local` saved.

export type DefaultStart = {
  pid: number
  baseUrl: string
  key: string
  /** The events that this process listens to, each with the number of listeners. */
  listeners(): Promise<Record<string, number>>
  kill(signal: NodeJS.Signals): void
  /** The exit code, or the signal that ended the process. */
  ended: Promise<number | NodeJS.Signals | null>
  log(): string
}

const readKey = (home: string): string =>
  (
    JSON.parse(readFileSync(join(home, 'config', 'profiles.json'), 'utf8')) as {
      profiles: { local: { api_key: string } }
    }
  ).profiles.local.api_key

const serve = [bin, 'serve', '--dev', '--port', '0', '-o', 'json']

const environmentIn = (home: string): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: home,
  XDG_DATA_HOME: join(home, 'share'),
  SVC_CONFIG_DIR: join(home, 'config'),
})

const readyAt = (line: string): string | undefined => {
  const event = JSON.parse(line) as { event: string; base_url: string }
  return event.event === 'ready' ? event.base_url : undefined
}

/** Starts it with `home` as the home folder. `preload` is a script for `--require`. */
export const startDefault = async (home: string, preload?: string): Promise<DefaultStart> => {
  const child = spawn(
    process.execPath,
    [...(preload === undefined ? [] : ['--require', preload]), ...serve],
    { env: environmentIn(home), stdio: ['ignore', 'pipe', 'pipe', 'ipc'] },
  )
  let log = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (log += text))
  const ended = once(child, 'exit').then(
    ([code, signal]) => (code ?? signal) as number | NodeJS.Signals | null,
  )
  const baseUrl = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const url = readyAt(line)
      if (url !== undefined) resolve(url)
    })
    void ended.then((exit) => reject(new Error(`svc serve ended with ${exit}: ${log}`)))
  })
  return {
    pid: child.pid!,
    baseUrl,
    key: readKey(home),
    listeners: async () => {
      const answer = once(child, 'message')
      child.send('listeners')
      return (await answer)[0] as Record<string, number>
    },
    kill: (signal) => void child.kill(signal),
    ended,
    log: () => log,
  }
}

/**
 * Starts it on a terminal of its own (a pty, by `script`). `close` closes that terminal, as closing its window does, and
 * answers the exit code that a shell sees.
 */
export const startOnTerminal = async (home: string) => {
  const status = join(home, 'status')
  // SIGHUP ends the session leader. The inner shell ignores it, to record the exit code of the service.
  const inner = `trap '' HUP; ${[process.execPath, ...serve].map((word) => `'${word}'`).join(' ')}; echo $? >'${status}.new'; mv '${status}.new' '${status}'`
  writeFileSync(join(home, 'inner.sh'), inner)
  const terminal = spawn('script', ['-qec', `sh '${join(home, 'inner.sh')}'; true`, '/dev/null'], {
    env: environmentIn(home),
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const baseUrl = await new Promise<string>((resolve) => {
    createInterface({ input: terminal.stdout }).on('line', (line) => {
      const url = line.startsWith('{"event":"ready"') ? readyAt(line) : undefined
      if (url !== undefined) resolve(url)
    })
  })
  return {
    baseUrl,
    key: readKey(home),
    close: async (): Promise<string> => {
      const watching = watch(home)
      terminal.kill('SIGKILL')
      while (!existsSync(status)) await once(watching, 'change')
      watching.close()
      return readFileSync(status, 'utf8').trim()
    },
  }
}

type Answered = { status: number; text: string }

const ask = (url: string, headers: Record<string, string>, body?: object): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const asking = request(url, { method: body ? 'POST' : 'GET', headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode!, text }))
      response.on('error', reject)
    })
    asking.on('error', reject)
    asking.end(body && JSON.stringify(body))
  })

const askTool = (baseUrl: string, ada: Person, params: object): Promise<Answered> =>
  ask(
    new URL('/mcp', baseUrl).href,
    { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'request_approval',
        arguments: { action: 'Deploy 4.2', approver_mobile: ada.mobile, timeout_s: 60 },
        ...params,
      },
    },
  )

/** Three clients that wait for a decision: a tool call, a tool call with an event stream, and a long poll. */
export const beginWaits = async (
  { baseUrl, key }: Pick<DefaultStart, 'baseUrl' | 'key'>,
  n: number,
): Promise<Promise<Answered>[]> => {
  const service = remote(baseUrl, key)
  const ada = await createPerson(service, 2 * n)
  const bob = await createPerson(service, 2 * n + 1)
  const tool = askTool(baseUrl, ada, {})
  const stream = askTool(baseUrl, bob, { _meta: { progressToken: 1 } })
  const [id] = await Promise.all([ada.waitForRequest(), bob.waitForRequest()])
  const poll = ask(new URL(`/svc/v1/approvals/${id}?wait_s=60`, baseUrl).href, { 'x-api-key': key })
  // The service handles requests in the order in which it reads them, so the poll is waiting once this is answered.
  await ask(new URL('/health', baseUrl).href, {})
  return [tool, stream, poll]
}
