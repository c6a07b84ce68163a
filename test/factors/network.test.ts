import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clientAddress, readNetwork, siteOf } from '../../src/factors/network.ts'
import { blank, good, hostile, resultOf } from './evidence.ts'

const number = (text: string) => text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)

/** Report only, so that the verdict is the one of the rule. */
const checkIp = (ipAllow: string[], ip: unknown) =>
  resultOf({ ...blank, ipAllow, reportOnly: ['ip'] }, hostile({ ...good, ip }), 'ip')

describe('an allowlist of networks', () => {
  test.each([
    ['203.0.113.9', '203.0.113.0/24'],
    ['203.0.113.9', '203.0.113.9/32'],
    ['203.0.113.9', '203.0.113.9'],
    ['203.0.113.9', '0.0.0.0/0'],
    ['::ffff:203.0.113.9', '203.0.113.0/24'],
    ['::ffff:cb00:7109', '203.0.113.0/24'],
    ['203.0.113.9', '::ffff:203.0.113.0/120'],
    ['2001:db8::1', '2001:db8::/32'],
    ['2001:DB8:0:0::1', '2001:db8::/32'],
  ])('admits %s to %s', (ip, network) => {
    expect(checkIp(['192.0.2.0/24', network], ip)).toMatchObject({ result: 'PASS' })
  })

  test.each([
    ['203.0.114.9', '203.0.113.0/24'],
    ['::ffff:203.0.114.9', '203.0.113.0/24'],
    ['2001:db9::1', '2001:db8::/32'],
    ['2001:db8::1', '0.0.0.0/0'],
    ['203.0.113.9', '::/0'],
    ['::cb00:7109', '203.0.113.0/24'],
    ['64:ff9b::203.0.113.9', '203.0.113.0/24'],
    ['203.0.113.9', 'everywhere'],
    ['203.0.113.9', '203.0.113.0/33'],
  ])('does not admit %s to %s', (ip, network) => {
    expect(checkIp(['192.0.2.0/24', network], ip)).toMatchObject({ result: 'FAIL' })
  })

  test.each([
    '',
    ' 203.0.113.9',
    '203.0.113',
    '203.0.113.9.1',
    '0xcb.0.113.9',
    '0313.0.113.9',
    '203.0.113.09',
    '3405803785',
    '203.0.113.256',
    '203.0.113.9/32',
    '203.0.113.9:443',
    '[2001:db8::1]',
    'fe80::1%eth0',
    '203.0.113.9%eth0',
    '::ffff:203.0.113.9%1',
    '::203.0.113.9',
    '2001:db8::1::2',
    'localhost',
    `${':'.repeat(5000)}1`,
    42,
    {},
    ['203.0.113.9'],
    Number.NaN,
  ])('does not know the address in %o', (ip) => {
    expect(checkIp(['0.0.0.0/0', '::/0'], ip)).toMatchObject({
      result: 'INSUFFICIENT_DATA',
      reason: 'the IP address cannot be read',
    })
  })

  test('does not apply if it is empty', () => {
    expect(checkIp([], 'nonsense').result).toBe('NOT_APPLICABLE')
  })

  test('names the network, or says that there is none', () => {
    expect(checkIp(['203.0.113.0/24'], '::ffff:203.0.113.9')).toMatchObject({
      result: 'PASS',
      reason: '203.0.113.9 is in 203.0.113.0/24',
      expected: { networks: ['203.0.113.0/24'] },
      observed: { ip: '203.0.113.9' },
    })
    expect(checkIp(['203.0.113.0/24'], '198.51.100.7').reason).toBe('198.51.100.7 is not in 203.0.113.0/24')
    expect(checkIp(['203.0.113.0/24', '192.0.2.0/24'], '198.51.100.7').reason).toBe(
      '198.51.100.7 is in none of the 2 allowed networks',
    )
  })

  test('treats an IPv4 address and its IPv6 form alike', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV4(), fc.integer({ min: 0, max: 32 }), (ip, base, bits) => {
        const allow = [`${base}/${bits}`]
        expect(checkIp(allow, `::ffff:${ip}`)).toEqual(checkIp(allow, ip))
        const mask = bits === 0 ? 0 : (-1 << (32 - bits)) >>> 0
        const same = (number(ip) & mask) === (number(base) & mask)
        expect(checkIp(allow, ip).result).toBe(same ? 'PASS' : 'FAIL')
      }),
    )
  })
})

describe('the address of a client', () => {
  const proxies = ['10.0.0.0/8', '2001:db8:f::/48'].map((text) => readNetwork(text)!)
  test.each<[string | undefined, string | undefined, string | undefined, string]>([
    ['203.0.113.9', undefined, '203.0.113.9', 'a socket without a header'],
    ['::ffff:203.0.113.9', undefined, '203.0.113.9', 'IPv4 within IPv6'],
    ['203.0.113.9', '192.0.2.1', '203.0.113.9', 'a header from nobody trusted'],
    ['10.0.0.1', '192.0.2.1', '192.0.2.1', 'a header from a proxy'],
    ['::ffff:10.0.0.1', '192.0.2.1', '192.0.2.1', 'a proxy within IPv6'],
    ['2001:db8:f::1', '2001:db8:a::7', '2001:db8:a::7', 'a proxy of IPv6'],
    ['10.0.0.1', '127.0.0.1, 192.0.2.1', '192.0.2.1', 'a header that the client began itself'],
    ['10.0.0.1', '192.0.2.1, 2001:db8:f::2', '192.0.2.1', 'two proxies'],
    ['10.0.0.1', '192.0.2.1,198.51.100.5,2001:db8:f::2', '198.51.100.5', 'a stranger between'],
    ['10.0.0.1', '192.0.2.1, 10.0.0.2', '10.0.0.1', 'a client within the network of the proxy'],
    ['10.0.0.1', '10.0.0.3, 2001:db8:f::2', '10.0.0.1', 'none but proxies'],
    ['10.0.0.1', '2001:db8:f::2', '10.0.0.1', 'a proxy that speaks for itself'],
    ['10.0.0.1', undefined, '10.0.0.1', 'a proxy that says nothing'],
    ['10.0.0.1', 'nonsense, 192.0.2.1', '192.0.2.1', 'nonsense that the client wrote'],
    ['10.0.0.1', '192.0.2.1, unknown', undefined, 'a proxy that does not know'],
    ['10.0.0.1', '', undefined, 'an empty header of a proxy'],
    ['10.0.0.1', '192.0.2.1, ', undefined, 'an empty last hop'],
    ['10.0.0.1', '192.0.2.0/24', undefined, 'a network'],
    ['10.0.0.1', '192.0.2.1:4711', undefined, 'a port'],
    ['fe80::1%eth0', '192.0.2.1', undefined, 'a zone id'],
    [undefined, '192.0.2.1', undefined, 'no socket'],
  ])('from %s with %o is %s: %s', (remote, header, expected) => {
    expect(clientAddress(remote, header, proxies)).toBe(expected)
  })

  test.each<[string[], string, string, string]>([
    [
      ['10.0.0.0/8', '10.0.0.0/8'],
      '192.0.2.1, 10.0.0.2',
      '192.0.2.1',
      'a network named twice holds two proxies',
    ],
    [['10.0.0.0/8', '10.0.0.1'], '192.0.2.1, 10.0.0.2', '192.0.2.1', 'the narrower name is taken first'],
    [['10.0.0.1', '10.0.0.0/8'], '192.0.2.1, 10.0.0.2', '192.0.2.1', 'whatever their order'],
    [['10.0.0.1'], '192.0.2.1, 10.0.0.1', '10.0.0.1', 'the proxy is believed once'],
    [
      ['10.0.0.1', '10.0.0.2'],
      '192.0.2.9, 192.0.2.1, 10.0.0.2',
      '192.0.2.1',
      'two proxies by their addresses',
    ],
  ])('with the proxies %j and %o is %s: %s', (names, header, expected) => {
    const named = names.map((text) => readNetwork(text)!)
    expect(clientAddress('10.0.0.1', header, named)).toBe(expected)
  })

  test('is never what a client in the network of the proxy claims', () => {
    const network = [readNetwork('172.16.0.0/12')!]
    for (const claimed of ['203.0.113.9', '172.16.5.5', '10.9.9.9', '203.0.113.9, 172.16.5.5'])
      expect(clientAddress('172.17.0.1', `${claimed}, 172.17.0.5`, network)).toBe('172.17.0.1')
  })

  test('is never what an untrusted peer claims', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), (header) => {
        expect(clientAddress('203.0.113.9', header, proxies)).toBe('203.0.113.9')
        const behind = clientAddress('10.0.0.1', `${header},203.0.113.9`, proxies)
        expect(behind).toBe('203.0.113.9')
      }),
    )
  })
})

test.each([
  ['2001:db8::1', '2001:db8::/64'],
  ['2001:db8:0:0:ffff::2', '2001:db8::/64'],
  ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '::ffff:203.0.113.7'],
])('limits count %s as %s', (address, site) => {
  expect(siteOf(address)).toBe(site)
})
