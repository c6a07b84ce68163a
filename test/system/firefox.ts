import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { WebSocket } from 'undici'
import { temporaryFolder } from '../temporary-folder.ts'

// Firefox through WebDriver BiDi, the little of it that the tests need: playwright-core drives only its own Firefox.

export const firefoxPath = ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find((path) => existsSync(path))

type Reply = { id?: number; type: string; error?: string; message?: string; result?: unknown }

const connect = async (address: string) => {
  const socket = new WebSocket(address)
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', reject)
  })
  const waiting = new Map<number, (reply: Reply) => void>()
  socket.addEventListener('message', ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply
    if (reply.id !== undefined) waiting.get(reply.id)?.(reply)
  })
  let last = 0
  const send = async <R>(method: string, params: object): Promise<R> => {
    last += 1
    const id = last
    const reply = await new Promise<Reply>((resolve) => {
      waiting.set(id, resolve)
      socket.send(JSON.stringify({ id, method, params }))
    })
    if (reply.type === 'error') throw new Error(`${method}: ${reply.message ?? reply.error}`)
    return reply.result as R
  }
  return { send, close: () => socket.close() }
}

type Setting = {
  width: number
  height: number
  /** In the colours that a person chose, instead of those of pages. */ ownColours?: boolean
}

/** A headless Firefox with one window of this size. */
export const startFirefox = async ({ width, height, ownColours = false }: Setting) => {
  if (firefoxPath === undefined) throw new Error('Firefox is missing: apt-get install -y firefox-esr')
  const folder = temporaryFolder()
  const { path } = folder
  if (ownColours)
    writeFileSync(join(path, 'user.js'), 'user_pref("browser.display.document_color_use", 2);\n')
  const args = ['--headless', '--no-remote', '--profile', path, '--remote-debugging-port', '0']
  const child = spawn(firefoxPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const address = await new Promise<string>((resolve, reject) => {
    createInterface(child.stderr).on('line', (line) => {
      const found = /WebDriver BiDi listening on (ws:\S+)/.exec(line)?.[1]
      if (found) resolve(found)
    })
    child.once('exit', () => reject(new Error('Firefox ended')))
  })
  const { send, close } = await connect(`${address}/session`)
  await send('session.new', { capabilities: {} })
  const { context } = await send<{ context: string }>('browsingContext.create', { type: 'tab' })
  await send('browsingContext.setViewport', { context, viewport: { width, height } })
  return {
    goto: (url: string) => send('browsingContext.navigate', { context, url, wait: 'complete' }),
    /** The value of an expression in the page, as JSON. */
    evaluate: async <R>(expression: string): Promise<R> => {
      const { type, result, exceptionDetails } = await send<{
        type: string
        result?: { value?: string }
        exceptionDetails?: { text: string }
      }>('script.evaluate', {
        expression: `Promise.resolve(${expression}).then((value) => JSON.stringify(value ?? null))`,
        target: { context },
        awaitPromise: true,
      })
      if (type === 'exception') throw new Error(exceptionDetails?.text)
      return JSON.parse(result?.value ?? 'null') as R
    },
    stop: async (): Promise<void> => {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      await send('browser.close', {}).catch(() => child.kill())
      close()
      await ended
      folder.remove()
    },
  }
}
