import { describe, expect, test } from 'vitest'
import { operationAt, rawLine } from '../../../src/cli/operation/raw-operation.ts'

const baseUrl = 'https://api.example/admin/public/api'

describe('the operation behind a raw request', () => {
  const same: [string, string, string | undefined][] = [
    ['DELETE', '/organization/2/delete', 'org delete'],
    ['DELETE', '/organization/2/delete?x=1', 'org delete'],
    ['DELETE', '/organization/2/%64elete', 'org delete'],
    ['DELETE', '/geofence/../organization/2/delete', 'org delete'],
    ['DELETE', '/geofence/%2e%2e/organization/2/delete', 'org delete'],
    ['DELETE', '/geofence\\..\\organization/2/delete', 'org delete'],
    ['HEAD', '/organizations', 'org list'],
    ['POST', '/organization/2/delete', undefined],
    ['DELETE', '/organization/2%2f3/delete', undefined],
    ['DELETE', '/organization//delete', undefined],
    ['DELETE', '/organization/%/delete', 'org delete'],
    ['GET', '/save/faceauth/success/a', 'mobile faceauth-success'],
    ['GET', '/save/faceauth/success/a%2Fb', 'mobile faceauth-success'],
    ['GET', '/svc/../admin/public/api/save/faceauth/success/a', 'mobile faceauth-success'],
    ['HEAD', '/.well-known/../admin/public/api/save/faceauth/success/a', 'mobile faceauth-success'],
  ]
  for (const [method, path, cli] of same)
    test(`is ${cli ?? 'not known'} for ${method} ${path}`, () =>
      expect(operationAt(method, path, baseUrl)?.cli).toBe(cli))

  test('is recognized with a base URL that ends in the middle of its path', () =>
    expect(operationAt('GET', '/faceauth/success/a', `${baseUrl}/save`)?.cli).toBe('mobile faceauth-success'))

  test('is shown to the approver with its complete body, except for likely secrets', () => {
    const body = JSON.stringify({ name: "O'Hara", idp: { client_secret: 'hush' } })
    expect(rawLine({ method: 'POST', path: '/organization/create?token=hush', body })).toBe(
      `svc api '/organization/create?token=***' -X POST --input '{"name":"O'\\''Hara","idp":{"client_secret":"***"}}'`,
    )
  })
})
