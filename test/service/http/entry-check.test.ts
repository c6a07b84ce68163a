import { describe, expect, test } from 'vitest'
import { createEntryCheck, type EntryOptions } from '../../../src/service/http/entry-check.ts'
import { startTestService } from '../harness.ts'

type Asked = { url?: string; peer?: string; headers?: Record<string, string> }

const guard = (options: Partial<EntryOptions>, { url, peer, headers = {} }: Asked) => {
  const address = url ?? 'http://127.0.0.1:8080/admin/public/api/organizations?x=1'
  const context = {
    req: { url: address, header: (name: string) => ({ host: new URL(address).host, ...headers })[name] },
    env: { incoming: { socket: { remoteAddress: peer ?? '127.0.0.1' } } },
  }
  return createEntryCheck({ loopbackOnly: true, publicUrl: undefined, trustedProxy: [], ...options })(
    context as never,
  )
}

describe('host names', () => {
  test.each(['localhost', 'localhost:8080', '127.0.0.1', '[::1]:8080', 'svc.localhost'])(
    'bound to loopback, %s is answered',
    (host) => {
      expect(() => guard({}, { headers: { host } })).not.toThrow()
    },
  )

  test.each([
    'evil.example',
    'evil.example:8080',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '10.0.0.1',
  ])('bound to loopback, %s is refused', (host) => {
    expect(() => guard({}, { headers: { host } })).toThrow('host name')
  })

  test('accepts the public name too', () => {
    const publicUrl = 'https://svc.example.com'
    expect(() => guard({ publicUrl }, { headers: { host: 'svc.example.com' } })).not.toThrow()
  })

  test('does not check the host name when bound to the network', () => {
    expect(() => guard({ loopbackOnly: false }, { headers: { host: 'any.example' } })).not.toThrow()
  })

  test('a refused host is 403 in the envelope, before any key is checked', async () => {
    const service = await startTestService()
    const { status, body } = await service.call('GET', '/organizations', {
      headers: { host: 'evil.example' },
    })
    await service.close()
    expect(status).toBe(403)
    expect(body.data.code).toBe('wrong_host')
  })
})

describe('origins of pages', () => {
  test.each(['https://evil.example', 'null', 'http://127.0.0.1:9999'])('%s is refused', (origin) => {
    expect(() => guard({}, { headers: { origin } })).toThrow('another origin')
  })

  test.each(['http://127.0.0.1:8080', 'https://svc.example.com'])('%s is our own', (origin) => {
    expect(() => guard({ publicUrl: 'https://svc.example.com' }, { headers: { origin } })).not.toThrow()
  })
})

describe('a proxy in front', () => {
  const options = { publicUrl: 'https://svc.example.com', trustedProxy: ['10.0.0.0/8', '::1'] }
  const plain = { headers: { host: 'svc.example.com', 'x-forwarded-proto': 'http' } }
  const target = 'https://svc.example.com/admin/public/api/organizations?x=1'

  test.each(['10.1.2.3', '::ffff:10.1.2.3', '::1'])('plain http through %s is sent to https', (peer) => {
    expect(guard(options, { ...plain, peer }).redirect).toBe(target)
  })

  test('only the value of our own proxy counts, the last one', () => {
    const headers = { host: 'svc.example.com', 'x-forwarded-proto': 'http, https' }
    expect(guard(options, { peer: '10.1.2.3', headers }).redirect).toBeUndefined()
  })

  test('trusts no other address', () => {
    expect(guard(options, { ...plain, peer: '192.0.2.1' }).redirect).toBeUndefined()
  })

  test('rejects an invalid network at the start', () => {
    expect(() =>
      createEntryCheck({ loopbackOnly: true, publicUrl: undefined, trustedProxy: ['10.0.0'] }),
    ).toThrow('--trusted-proxy is not an IP address')
  })
})
