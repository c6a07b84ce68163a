import { BlockList, isIP, isIPv6 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isLoopbackAddress, isLoopbackHost, isLoopbackName } from '../../src/core/loopback.ts'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

/** Node's own classification of an address. */
const nodeSays = (text: string): boolean =>
  isIP(text) !== 0 && !text.includes('%') && loopback.check(text, isIPv6(text) ? 'ipv6' : 'ipv4')

const octet = fc.integer({ min: 0, max: 255 })
const ipv4Within = (first: fc.Arbitrary<number>) =>
  fc.tuple(first, octet, octet, octet).map((parts) => parts.join('.'))

describe('a loopback address', () => {
  test.each([
    '127.0.0.1',
    '127.255.255.254',
    '::1',
    '[::1]',
    '0:0:0:0:0:0:0:1',
    '0000:0000:0000:0000:0000:0000:0000:0001',
    '::ffff:127.0.0.1',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '::FFFF:7F00:0001',
  ])('is %s', (text) => {
    expect(isLoopbackAddress(text)).toBe(true)
    expect(isLoopbackHost(text)).toBe(true)
    expect(isLoopbackName(text)).toBe(true)
  })

  test.each([
    ['a short form', '127.1'],
    ['a decimal number', '2130706433'],
    ['octal parts', '0177.0.0.1'],
    ['a part with a leading zero', '127.0.0.01'],
    ['hexadecimal parts', '0x7f.0.0.1'],
    ['a part above 255', '127.0.0.256'],
    ['five parts', '127.0.0.0.1'],
    ['a trailing dot', '127.0.0.1.'],
    ['a name that starts like an address', '127.0.0.1.example.com'],
    ['a port', '127.0.0.1:80'],
    ['a port after brackets', '[::1]:80'],
    ['surrounding space', ' 127.0.0.1'],
    ['a line end', '127.0.0.1\n'],
    ['a user name', 'user@127.0.0.1'],
    ['a user name before brackets', 'user@[::1]'],
    ['an extra bracket', '[[::1]]'],
    ['a single bracket', '[::1'],
    ['a zone', '::1%lo'],
    ['a zone in brackets', '[fe80::1%25lo]'],
    ['the address of all interfaces', '0.0.0.0'],
    ['the IPv6 address of all interfaces', '::'],
    ['the deprecated form of IPv4 in IPv6', '::127.0.0.1'],
    ['another mapped address', '::ffff:10.0.0.1'],
    ['a translated address', '64:ff9b::127.0.0.1'],
    ['nothing', ''],
  ])('is not %s', (_, text) => {
    expect(isLoopbackAddress(text)).toBe(false)
    expect(isLoopbackHost(text)).toBe(false)
    expect(isLoopbackName(text)).toBe(false)
  })

  test('agrees with Node for every IPv4 and IPv6 address', () => {
    const addresses = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      ipv4Within(fc.constant(127)),
      ipv4Within(octet).map((text) => `::ffff:${text}`),
      ipv4Within(fc.constant(127)).map((text) => `::ffff:${text}`),
      fc.constantFrom('::1', '::0:1', '0:0::1', '::2', '1::1'),
    )
    fc.assert(
      fc.property(addresses, (text) => {
        expect(isLoopbackAddress(text)).toBe(nodeSays(text))
        expect(isLoopbackAddress(`[${text}]`)).toBe(isIPv6(text) && nodeSays(text))
      }),
    )
  })

  test('is never text that the URL parser would send elsewhere', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'127.0:[]@%/\\x afl#?'), maxLength: 20 }), (text) => {
        if (!isLoopbackAddress(text)) return
        const { hostname } = new URL(
          `http://${text.includes(':') && !text.startsWith('[') ? `[${text}]` : text}`,
        )
        expect(nodeSays(hostname.replace(/^\[|\]$/g, ''))).toBe(true)
      }),
    )
  })
})

describe('a URL', () => {
  test.each([
    '127.1',
    '0177.0.0.1',
    '2130706433',
    '0x7f000001',
    '127.0.0.1.',
    '[::ffff:127.0.0.1]',
    'LOCALHOST',
  ])('of this machine has a loopback host after parsing: %s', (host) => {
    expect(isLoopbackHost(new URL(`http://${host}`).hostname)).toBe(true)
  })

  test.each(['localhost.', 'localhost.example.com', 'xlocalhost', '127.0.0.1.example.com', '10.0.0.1'])(
    'of another machine has none: %s',
    (host) => {
      expect(isLoopbackName(new URL(`http://${host}`).hostname)).toBe(false)
    },
  )
})

describe('a name', () => {
  test("below localhost is this machine's, but not a host to send anything to", () => {
    expect(isLoopbackName('app.localhost')).toBe(true)
    expect(isLoopbackHost('app.localhost')).toBe(false)
    expect(isLoopbackName('.localhost')).toBe(false)
  })
})
