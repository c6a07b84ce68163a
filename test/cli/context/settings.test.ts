import { describe, expect, test } from 'vitest'
import type { Globals } from '../../../src/cli/terminal/io.ts'
import type { Profile } from '../../../src/cli/context/profile-store.ts'
import { createSettings, type Settings } from '../../../src/cli/context/settings.ts'
import { memoryIo } from '../memory-io.ts'

type Given = {
  globals?: Globals
  env?: Record<string, string>
  profiles?: Record<string, Profile>
  current?: string
}
const settings = ({ globals = {}, env, profiles = {}, current }: Given): Settings =>
  createSettings({ io: memoryIo({ env }), globals }, { version: 1, current, profiles })

describe('precedence: flag, environment, profile, default', () => {
  const profiles = {
    prod: {
      base_url: 'https://profile.example/admin/public/api',
      mcp_url: 'https://profile.example/mcp',
      org: 'in-profile',
      cacert: '/profile.pem',
    },
  }
  const cases: [keyof Settings, Given, unknown][] = [
    [
      'baseUrl',
      {
        globals: { baseUrl: 'https://flag.example/admin/public/api/' },
        env: { SVC_BASE_URL: 'https://env.example/x' },
        profiles,
        current: 'prod',
      },
      { value: 'https://flag.example/admin/public/api', source: 'flag' },
    ],
    [
      'baseUrl',
      { env: { SVC_BASE_URL: 'https://env.example/x' }, profiles, current: 'prod' },
      { value: 'https://env.example/x', source: 'environment' },
    ],
    [
      'baseUrl',
      { env: { SVC_BASE_URL: '' }, profiles, current: 'prod' },
      { value: 'https://profile.example/admin/public/api', source: 'profile' },
    ],
    ['baseUrl', { profiles }, { value: 'http://127.0.0.1:8080/admin/public/api', source: 'default' }],
    ['mcpUrl', { profiles, current: 'prod' }, { value: 'https://profile.example/mcp', source: 'profile' }],
    ['mcpUrl', {}, undefined],
    [
      'org',
      { env: { SVC_ORG: 'in-env' }, profiles, current: 'prod' },
      { value: 'in-env', source: 'environment' },
    ],
    ['org', { profiles, current: 'prod' }, { value: 'in-profile', source: 'profile' }],
    [
      'cacert',
      { globals: { cacert: '/flag.pem' }, profiles, current: 'prod' },
      { value: '/flag.pem', source: 'flag' },
    ],
    ['profile', {}, { value: 'default', source: 'default' }],
    ['profile', { profiles, current: 'prod' }, { value: 'prod', source: 'profile' }],
    ['profile', { profiles, env: { SVC_PROFILE: 'prod' } }, { value: 'prod', source: 'environment' }],
    [
      'profile',
      { profiles: { ...profiles, a: {} }, globals: { profile: 'a' }, env: { SVC_PROFILE: 'prod' } },
      { value: 'a', source: 'flag' },
    ],
    ['protected', { profiles: { a: { protected: true } }, current: 'a' }, true],
    ['protected', {}, false],
  ]
  for (const [name, given, expected] of cases)
    test(`${name} of ${JSON.stringify(given)}`, () => expect(settings(given)[name]).toEqual(expected))
})

describe('the tool server of a profile', () => {
  const [base, other] = ['https://a.example/api', 'https://b.example/api']
  const mcp_url = 'https://tools.a.example/mcp'
  const found = { value: mcp_url, source: 'profile' }
  const of = (given: Given, profile: Profile = { base_url: base, mcp_url }) => {
    const { mcpUrl, otherMcpUrl } = settings({ ...given, profiles: { a: profile }, current: 'a' })
    return [mcpUrl, otherMcpUrl]
  }

  test.each<[string, Given]>([
    ['a flag', { globals: { baseUrl: other } }],
    ['the environment', { env: { SVC_BASE_URL: other } }],
    ['another port', { env: { SVC_BASE_URL: 'https://a.example:8443/api' } }],
  ])('is not used for another service that %s names', (_, given) => {
    expect(of(given)).toEqual([undefined, found])
    expect(of(given, { mcp_url })).toEqual([undefined, found])
  })

  test.each<[string, Given]>([
    ['the service of the profile', {}],
    ['another path of that service', { env: { SVC_BASE_URL: 'https://a.example/other' } }],
    ['its own origin', { env: { SVC_BASE_URL: 'https://tools.a.example/api' } }],
  ])('is used for %s', (_, given) => expect(of(given)).toEqual([found, undefined]))

  test('is overridden by SVC_MCP_URL for any service', () => {
    const SVC_MCP_URL = 'https://c.example/mcp'
    expect(of({ env: { SVC_BASE_URL: other, SVC_MCP_URL } })).toEqual([
      { value: SVC_MCP_URL, source: 'environment' },
      undefined,
    ])
  })
})

describe('an invalid setting is a usage error,', () => {
  const cases: [string, Given, RegExp][] = [
    [
      'a tool server that does not end in /mcp',
      { env: { SVC_MCP_URL: 'https://h.example/' } },
      /SVC_MCP_URL must end in \/mcp/,
    ],
    ['an invalid base URL', { globals: { baseUrl: 'host.example' } }, /--base-url is not a valid URL/],
    ['another scheme', { env: { SVC_BASE_URL: 'ftp://h.example/' } }, /SVC_BASE_URL must start with http/],
    [
      'a password in the address',
      { globals: { baseUrl: 'https://u:secret@h.example/' } },
      /^(?!.*secret).*user name or password/,
    ],
    ['a query', { globals: { baseUrl: 'https://h.example/api?' } }, /must not contain \? or #/],
    ['a line break in the address', { globals: { baseUrl: 'https://h.example/\nx' } }, /is not a valid URL/],
    [
      'an invalid address in the profile',
      { profiles: { a: { base_url: 'x' } }, current: 'a' },
      /base_url of profile "a"/,
    ],
  ]
  for (const [what, given, message] of cases)
    test(`such as ${what}`, () =>
      expect(() => settings(given)).toThrow(
        expect.objectContaining({ exit: 'usage', message: expect.stringMatching(message) }),
      ))
})

describe('a missing profile is not found', () => {
  test.each<[Given, string]>([
    [
      { env: { SVC_PROFILE: 'x' }, profiles: { a: {}, b: {} } },
      'Profile "x" not found; existing profiles: a, b',
    ],
    [{ globals: { profile: 'constructor' } }, 'Profile "constructor" not found'],
  ])('%j', (given, message) => {
    expect(() => settings(given)).toThrow(expect.objectContaining({ exit: 'notFound', message }))
  })
})

const hints = (ada: Profile) => {
  const { keyHint, askKeyHint } = settings({ profiles: { ada }, current: 'ada' })
  return [keyHint, askKeyHint]
}

test('a sign-in that ended is repeated as a sign-in, not by asking for a key', () => {
  const ask = { ask_key: 'k', ask_key_origin: 'https://a.example' }
  expect(hints({ ...ask, installation: 'i' })).toEqual(Array(2).fill('svc profile login ada'))
  expect(hints(ask)).toEqual(Array(2).fill('svc profile login ada --ask'))
})
