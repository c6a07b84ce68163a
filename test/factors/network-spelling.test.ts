import { describe, expect, test } from 'vitest'
import { normalizeNetwork } from '../../src/factors/network.ts'

describe('a network', () => {
  test.each([
    ['203.0.113.0/24', '203.0.113.0/24'],
    ['203.0.113.7/24', '203.0.113.0/24'],
    ['203.0.113.7', '203.0.113.7/32'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:DB8::1', '2001:db8::1/128'],
    ['2001:db8:0:0:1::/48', '2001:db8::/48'],
    ['::ffff:203.0.113.7', '203.0.113.7/32'],
    ['::ffff:203.0.113.0/120', '203.0.113.0/24'],
    ['::/0', '::/0'],
  ])('%s is normalized to %s', (text, network) => {
    expect(normalizeNetwork(text)).toBe(network)
    expect(normalizeNetwork(network)).toBe(network)
  })

  test.each([
    '10',
    '10.0.0',
    '0x7f.0.0.1',
    '::192.0.2.1',
    '010.0.0.1',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '10.0.0.0/255.0.0.0',
    '256.0.0.1',
    'fe80::1%eth0',
    '::/129',
    'example.com',
    '*',
    '',
  ])('%j is invalid', (text) => {
    expect(normalizeNetwork(text)).toBeUndefined()
  })
})
