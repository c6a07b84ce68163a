import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createSlowReaders } from '../../../src/service/http/slow-readers.ts'
import { startServer } from '../../../src/service/http/server.ts'

const mib = 1024 * 1024
const ask = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`

/** A client that sends this and reads nothing, unless it is told to. */
const send = async (port: number, text: string): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

/** A server whose responses are as large as their paths say; `/parts` does not end. */
const startLarge = async () => {
  const readers = createSlowReaders()
  const begun: ServerResponse[] = []
  let told: (() => void) | undefined
  const listener: RequestListener = (request, response) => {
    readers.watch(response)
    if (request.url === '/parts') response.write(Buffer.alloc(8 * mib))
    else response.end(Buffer.alloc(Number(request.url!.slice(1)) * mib))
    begun.push(response)
    told?.()
  }
  const server = createServer(listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const responseTo = async (path: string) => {
    const next = new Promise<void>((resolve) => (told = resolve))
    const client = await send(port, ask(path))
    await next
    return { client, response: begun.at(-1)!, connection: begun.at(-1)!.socket! }
  }
  return { readers, responseTo }
}

describe('a client that does not read', () => {
  test('is disconnected after half a minute and the time that a slow network needs', async () => {
    const { readers, responseTo } = await startLarge()
    const { connection } = await responseTo('/48')
    // 48 MiB at 32 kB a second.
    const needed = 30_000 + (48 * mib) / 32
    readers.check(1_000)
    readers.check(1_000 + needed - 1_000)
    expect(connection.destroyed).toBe(false)
    readers.check(1_000 + needed + 1_000)
    expect(connection.destroyed).toBe(true)
  })

  test('but reads in the end gets all of it', async () => {
    const { readers, responseTo } = await startLarge()
    const { client, response } = await responseTo('/48')
    readers.check(0)
    readers.check(20_000)
    let bytes = 0
    client.on('data', (chunk: Buffer) => (bytes += chunk.length))
    await once(response, 'close')
    expect(response.writableFinished).toBe(true)
    await expect.poll(() => bytes).toBeGreaterThan(48 * mib)
  })

  test('has that time for each part of a list that is sent in parts', async () => {
    const { readers, responseTo } = await startLarge()
    const { client, response, connection } = await responseTo('/parts')
    readers.check(0)
    client.resume()
    await once(response, 'drain')
    client.pause()
    response.write(Buffer.alloc(8 * mib))
    readers.check(280_000)
    readers.check(500_000)
    expect(connection.destroyed).toBe(false)
    readers.check(600_000)
    expect(connection.destroyed).toBe(true)
  })

  test('makes room for others, the one that has waited longest first', async () => {
    const { readers, responseTo } = await startLarge()
    const first = await responseTo('/30')
    readers.check(0)
    const second = await responseTo('/30')
    readers.check(1_000)
    const third = await responseTo('/30')
    expect(first.connection.destroyed).toBe(false)
    readers.check(2_000)
    expect([first, second, third].map(({ connection }) => connection.destroyed)).toEqual([true, false, false])
  })
})

/** The server of the service, which answers when it is told to. */
const startPatient = async () => {
  const begun: string[] = []
  const answers: (() => void)[] = []
  let told: (() => void) | undefined
  const server = await startServer({ port: 0, host: '127.0.0.1' }, () => ({ url }) => {
    begun.push(new URL(url).pathname)
    told?.()
    return new Promise((resolve) => answers.push(() => resolve(new Response(url))))
  })
  onTestFinished(() => server.stop())
  return {
    server,
    begun,
    answer: () => answers.shift()!(),
    next: () => new Promise<void>((resolve) => (told = resolve)),
  }
}

describe('requests that are sent on one connection without waiting', () => {
  test('are handled one after another', async () => {
    const { server, begun, answer, next } = await startPatient()
    let arrived = next()
    const client = await send(server.port, ask('/1') + ask('/2') + ask('/3'))
    let read = ''
    client.on('data', (chunk: Buffer) => (read += chunk.toString()))
    for (const path of ['/1', '/2', '/3']) {
      await arrived
      expect(begun.at(-1)).toBe(path)
      expect(server.requests()).toBe(1)
      arrived = next()
      answer()
    }
    await expect.poll(() => read.match(/\/\d(?=HTTP|$)/g)).toEqual(['/1', '/2', '/3'])
  })

  test('are refused with their connection if there are too many', async () => {
    const { server, begun } = await startPatient()
    const client = await send(server.port, ask('/').repeat(1_000))
    client.resume()
    await once(client, 'close')
    expect(begun).toHaveLength(1)
    await expect.poll(() => server.requests()).toBe(0)
  })
})
