import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createConnection } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { beginWaits, startDefault, startOnTerminal, type DefaultStart } from './default-start.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const homes: string[] = []
const home = (): string => {
  const { path } = temporaryFolder()
  homes.push(path)
  return path
}
afterAll(() => {
  for (const path of homes) rmSync(path, { recursive: true, force: true })
})
const start = async (preload?: string): Promise<DefaultStart> => {
  const service = await startDefault(home(), preload)
  onTestFinished(() => service.kill('SIGKILL'))
  return service
}
const health = (baseUrl: string): Promise<number | 'refused'> =>
  fetch(new URL('/health', baseUrl), { headers: { connection: 'close' } }).then(
    ({ status }) => status,
    () => 'refused' as const,
  )
const withdrawn = /"status":"expired"/
const listenersScript = fileURLToPath(new URL('listeners.cjs', import.meta.url))

describe('svc serve, started by a user', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    'answers every waiting client and exits 0 on %s',
    async (signal) => {
      const service = await start()
      const answers = Promise.allSettled(await beginWaits(service, 1))
      service.kill(signal)
      expect(await service.ended).toBe(0)
      expect(await answers).toEqual([
        { status: 'fulfilled', value: { status: 200, text: expect.stringMatching(withdrawn) } },
        { status: 'fulfilled', value: { status: 200, text: expect.stringMatching(withdrawn) } },
        { status: 'fulfilled', value: { status: 200, text: expect.stringContaining('"request_id"') } },
      ])
    },
  )

  test('treats a repeated signal as one', async () => {
    const service = await start()
    const { port } = new URL(service.baseUrl)
    // In progress until its last line is sent, so that the service is still busy when the second signal arrives.
    const socket = createConnection(Number(port), '127.0.0.1')
    socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n')
    await expect.poll(() => health(service.baseUrl)).toBe(200)
    service.kill('SIGINT')
    await expect.poll(() => health(service.baseUrl)).toBe('refused')
    // The terminal signals the whole process group; npm and timeout then forward the signal again.
    service.kill('SIGINT')
    socket.write('\r\n')
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /)
    expect(await service.ended).toBe(0)
  })

  test('answers every waiting client when its terminal is closed', async () => {
    const service = await startOnTerminal(home())
    const answers = Promise.allSettled(await beginWaits(service, 1))
    // 128 + SIGHUP. Node itself would abort with 134 and a core dump.
    expect(await service.close()).toBe('129')
    expect((await answers).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled'])
  })

  test('listens only to the signals that svc handles', async () => {
    const service = await start(listenersScript)
    expect(await service.listeners()).toEqual({ SIGHUP: 1, SIGINT: 1, SIGTERM: 1, uncaughtException: 1 })
    service.kill('SIGTERM')
    expect(await service.ended).toBe(0)
  })
})
