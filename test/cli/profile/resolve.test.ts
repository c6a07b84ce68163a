import { describe, expect, it } from 'vitest'
import type { Globals } from '../../../src/cli/context.ts'
import type { Profile } from '../../../src/cli/profile/profile-file.ts'
import { createSettings } from '../../../src/cli/profile/resolve.ts'
import type { Settings } from '../../../src/cli/profile/settings.ts'
import { memoryIo } from '../memory-io.ts'

type Given = {
  globals?: Globals
  env?: Record<string, string>
  profiles?: Record<string, Profile>
  current?: string
}
const settings = ({ globals = {}, env, profiles = {}, current }: Given): Settings =>
  createSettings({
    io: memoryIo({ env }),
    globals,
    store: {
      path: '',
      read: () => ({ version: 1, current, profiles }),
      update: async () => undefined,
    },
  })

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
    it(`${name} of ${JSON.stringify(given)}`, () => expect(settings(given)[name]).toEqual(expected))
})

describe('what is wrong is a usage error', () => {
  const cases: [string, Given, RegExp][] = [
    [
      'a tool server that does not end in /mcp',
      { env: { SVC_MCP_URL: 'https://h.example/' } },
      /SVC_MCP_URL must end in \/mcp/,
    ],
    ['a base URL that is none', { globals: { baseUrl: 'host.example' } }, /--base-url is not a valid URL/],
    ['another scheme', { env: { SVC_BASE_URL: 'ftp://h.example/' } }, /SVC_BASE_URL must start with http/],
    [
      'a password in it',
      { globals: { baseUrl: 'https://u:secret@h.example/' } },
      /^(?!.*secret).*user name or password/,
    ],
    ['a query', { globals: { baseUrl: 'https://h.example/api?' } }, /must not contain \? or #/],
    ['a line break in it', { globals: { baseUrl: 'https://h.example/\nx' } }, /is not a valid URL/],
    [
      'a bad one in the profile',
      { profiles: { a: { base_url: 'x' } }, current: 'a' },
      /base_url of profile "a"/,
    ],
  ]
  for (const [what, given, message] of cases)
    it(`such as ${what}`, () =>
      expect(() => settings(given)).toThrow(
        expect.objectContaining({ exit: 'usage', message: expect.stringMatching(message) }),
      ))
})

describe('a profile that does not exist is not found', () => {
  it.each<[Given, string]>([
    [{ env: { SVC_PROFILE: 'x' }, profiles: { a: {}, b: {} } }, 'Profile "x" not found; there are a, b'],
    [{ globals: { profile: 'constructor' } }, 'Profile "constructor" not found'],
  ])('%j', (given, message) => {
    expect(() => settings(given)).toThrow(expect.objectContaining({ exit: 'notFound', message }))
  })
})
