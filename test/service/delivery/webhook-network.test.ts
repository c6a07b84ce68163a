import type { lookup } from 'node:dns'
import { createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { checkPublicUrl, publicLookup } from '../../../src/service/delivery/public-address.ts'
import { requestPublic } from '../../../src/service/delivery/public-request.ts'
import { refusal } from '../fixtures.ts'
import { startTestService } from '../harness.ts'
import { readNetwork } from '../../../src/factors/network.ts'

const listed = ['10.20.0.0/16', 'fd12:3456::/32'].map((text) => readNetwork(text)!)

const hintOf = (networks?: typeof listed): unknown => {
  try {
    checkPublicUrl('url', 'https://10.21.0.1/', false, networks)
  } catch (error) {
    return (error as { hint?: string }).hint
  }
  return 'accepted'
}

type Done = (error: null, addresses: { address: string; family: number }[]) => void

/** What a connection to a host with these addresses gets. */
const resolved = (addresses: string[]): Promise<unknown> => {
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  const resolver = ((_: string, __: object, done: Done) => done(null, found)) as unknown as typeof lookup
  return new Promise((resolve) =>
    publicLookup(listed, resolver)('hooks.example.com', { all: true }, (error, all) =>
      resolve(error ? error.code : all),
    ),
  )
}

describe('the address of a receiver', () => {
  test.each([
    'https://10.20.3.4/',
    'https://[::ffff:10.20.3.4]/',
    'https://[fd12:3456::1]/',
    'https://203.0.113.7.example.com/',
    'https://93.184.216.34/',
  ])('%s is reached with its network listed', (url) => {
    expect(() => checkPublicUrl('url', url, false, listed)).not.toThrow()
  })

  test.each([
    'http://10.20.3.4/',
    'https://10.21.0.0/',
    'https://10.19.255.255/',
    'https://[::ffff:10.21.0.1]/',
    'https://[::10.20.3.4]/',
    'https://[64:ff9b::10.20.3.4]/',
    'https://[2002:a14:304::]/',
    'https://[fd12:3457::1]/',
    'https://127.0.0.1/',
    'https://localhost/',
    'https://169.254.169.254/',
  ])('%s is refused with other networks listed', (url) => {
    expect(() => checkPublicUrl('url', url, false, listed)).toThrow(/https URL|public internet/)
  })

  test('names the flag of the operator only where a network can be listed', () => {
    expect(hintOf([])).toBe(
      'The operator can list a private network: svc serve --webhook-network 10.20.0.0/16',
    )
    expect(hintOf()).toBeUndefined()
  })
})

describe('a host name', () => {
  test.each([[['10.20.3.4']], [['10.20.3.4', 'fd12:3456::1', '93.184.216.34']], [['::ffff:10.20.3.4']]])(
    'with the addresses %j is reached',
    async (addresses) => {
      expect(await resolved(addresses)).toMatchObject(addresses.map((address) => ({ address })))
    },
  )

  test.each([
    [['10.20.3.4', '10.21.0.1']],
    [['93.184.216.34', '10.21.0.1']],
    [['10.20.3.4', '::1']],
    [['10.20.3.4', '::ffff:10.21.0.1']],
    [['10.20.3.4', 'fe80::1%eth0']],
    [['::10.20.3.4']],
  ])('with the addresses %j is refused as a whole', async (addresses) => {
    expect(await resolved(addresses)).toBe('private_address')
  })
})

test('a service with a listed network takes webhooks to it, and to no other', async () => {
  const service = await startTestService({ webhookNetworks: listed })
  const created = (url: string) => service.call('POST', '/svc/v1/webhooks', { body: { org_id: 0, url } })
  expect((await created('https://10.20.3.4/')).status).toBe(200)
  expect(refusal(await created('https://10.21.3.4/'))).toEqual([422, 'invalid_field', ['url']])
  await service.close()
})

describe('a connection', () => {
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.destroy()
  })
  beforeEach(async () => {
    connections = 0
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterEach(() => new Promise((resolve) => server.close(resolve)))

  const post = (network: string): Promise<unknown> =>
    requestPublic({
      url: `https://127.0.0.1:${(server.address() as { port: number }).port}/`,
      field: 'url',
      dev: false,
      networks: [readNetwork(network)!],
      headers: {},
      body: Buffer.from('{}'),
      signal: AbortSignal.timeout(60_000),
    })

  test('is made into a listed network', async () => {
    await expect(post('127.0.0.0/30')).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(connections).toBe(1)
  })

  test('is not made into another', async () => {
    await expect(post('127.0.0.2/32')).rejects.toMatchObject({ code: 'invalid_field' })
    expect(connections).toBe(0)
  })
})
