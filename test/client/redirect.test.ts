import { expect, onTestFinished, test } from 'vitest'
import { org } from '../../src/contract/org.ts'
import { redirect, startFakeHosted } from '../fake-hosted.ts'
import { failure, secretKey, withHosted } from './hosted.ts'

const codes = [301, 302, 303, 307, 308]
const elsewhere = {
  'another host': (origin: string) => origin.replace('127.0.0.1', 'localhost'),
  'another port': (origin: string) => origin,
  'another scheme': (origin: string) => origin.replace('http:', 'https:'),
}

test.each(codes.flatMap((code) => Object.keys(elsewhere).map((where) => [code, where] as const)))(
  'a redirect %i to %s is an error, and nothing is sent there',
  async (code, where) => {
    const second = await startFakeHosted()
    onTestFinished(() => second.close())
    const { client, service } = await withHosted()
    service.always(
      redirect(code, `${elsewhere[where as keyof typeof elsewhere](second.origin)}/admin/public/api/x`),
    )
    const errors = [
      await failure(client.call(org.listOrganizations, {})),
      await failure(client.call(org.createOrganization, { name: 'Acme' })),
    ]
    for (const error of errors) {
      expect(error).toMatchObject({ exit: 'failed', code: 'redirected' })
      expect(error.message).toContain('no key was sent there')
      expect(error.message).not.toContain('/x')
    }
    expect(service.seen.map((request) => request.headers['x-api-key'])).toEqual([secretKey, secretKey])
    expect(second.connections()).toBe(0)
  },
)

test('a raw request returns the redirect', async () => {
  const { client, service } = await withHosted()
  service.next(redirect(302, 'https://elsewhere.example/path'))
  const answer = await client.raw({ method: 'GET', path: '/organizations', effect: 'read' })
  expect(answer.status).toBe(302)
  expect(service.seen).toHaveLength(1)
})

test('an invalid location is escaped', async () => {
  const { client, service } = await withHosted()
  service.next(redirect(301, 'https://\u00a0[bad'))
  const error = await failure(client.call(org.listOrganizations, {}))
  expect(error.message).toContain('elsewhere')
})
