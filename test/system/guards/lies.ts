import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { config } from './host.ts'
import { answer, approver, change, hasRun, host, record, rootMark, touch } from './stage.ts'

type Body = { data?: { request_id?: string } }

export const tryLies = (): void => {
  describe('a service that lies', () => {
    const open: Server[] = []
    /** Passes everything on to the service, except what `lie` answers itself. */
    const proxy = async (lie: (path: string, body: Body) => unknown): Promise<string> => {
      const server = createServer(async (request, response) => {
        const chunks: Buffer[] = []
        for await (const chunk of request) chunks.push(chunk as Buffer)
        const path = request.url ?? ''
        const { 'x-api-key': key = '', 'content-type': type = 'application/json' } = request.headers
        const answered = await fetch(new URL(path.replace(/\?.*/, ''), host.service.baseUrl), {
          method: request.method ?? 'GET',
          headers: { 'x-api-key': String(key), 'content-type': type },
          body: chunks.length > 0 ? Buffer.concat(chunks) : null,
        })
        const body = (await answered.json()) as Body
        const said = lie(path, body)
        response.writeHead(said ? 200 : answered.status, { 'content-type': 'application/json' })
        response.end(JSON.stringify(said ?? body))
      }).listen(0, '127.0.0.1')
      await once(server, 'listening')
      open.push(server)
      const { port } = server.address() as { port: number }
      change(
        /^service: .*$/m,
        `service: http://127.0.0.1:${port}/admin/public/api\nissuer: ${new URL(host.service.baseUrl).origin}`,
      )
      return `http://127.0.0.1:${port}`
    }
    afterAll(() => open.forEach((server) => server.close()))

    test('with a receipt of an earlier run of the same command lets nothing run', async () => {
      const honest = touch()
      const earlier = await honest.asked()
      await answer(earlier, approver)
      expect([(await honest.ended).exit, hasRun()]).toEqual([0, true])
      rmSync(rootMark)
      const genuine = await record(earlier)
      expect(genuine.attestation).not.toBeNull()
      await proxy((path, body) => {
        if (path.includes('/consume'))
          return { status: 'success', message: 'ok', data: { ...genuine, used_at: genuine.decided_at } }
        if (path.includes('/approvals/') && body.data)
          return { ...body, data: { ...genuine, request_id: body.data.request_id } }
        return undefined
      })
      const { exit, stderr } = await touch().ended
      expect({ exit, ran: hasRun() }).toEqual({ exit: 101, ran: false })
      expect(stderr).toContain('expected subject')
    })

    test('about a decision without a receipt lets nothing run', async () => {
      await proxy((path, body) =>
        path.includes('/approvals/') && body.data
          ? { ...body, data: { ...body.data, status: 'approved', attestation: null } }
          : undefined,
      )
      const { exit, stderr } = await touch().ended
      expect({ exit, ran: hasRun() }).toEqual({ exit: 101, ran: false })
      expect(stderr).toContain('does not prove it\nThere is no receipt.')
    })
  })

  test.each([
    [
      'another key',
      'guard-keys.json',
      { kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43) },
      'no key in the key set is',
    ],
  ])('a receipt signed by %s than the pinned ones lets nothing run', async (_, name, key, says) => {
    const file = join('/etc/svc', name)
    const before = readFileSync(file)
    writeFileSync(file, JSON.stringify({ keys: [key] }))
    try {
      const running = touch()
      await answer(await running.asked(), approver)
      const { exit, stderr } = await running.ended
      expect({ exit, ran: hasRun() }).toEqual({ exit: 101, ran: false })
      expect(stderr).toContain(says)
    } finally {
      writeFileSync(file, before)
    }
  })

  test('a passkey other than the pinned one lets nothing run, and the pinned one does', async () => {
    const text = readFileSync(config, 'utf8')
    const pin = (passkey: string): void =>
      writeFileSync(config, text.replace('"}]', `", passkeys: [${passkey}]}]`))
    pin('A'.repeat(100))
    const refused = touch()
    const id = await refused.asked()
    await answer(id, approver)
    const { exit, stderr } = await refused.ended
    expect({ exit, ran: hasRun() }).toEqual({ exit: 101, ran: false })
    expect(stderr).toContain('0 of 1 people signed with an expected passkey')
    pin((await record(id)).attestation.claims.evidence.public_key)
    const running = touch()
    await answer(await running.asked(), approver)
    expect([(await running.ended).exit, hasRun()]).toEqual([0, true])
  })

  test('a service that cannot be reached lets nothing run, whichever guard asks', async () => {
    change(/^service: .*$/m, 'service: http://127.0.0.1:9/admin/public/api')
    const { exit, stderr } = await touch().ended
    expect({ exit, ran: hasRun() }).toEqual({ exit: 109, ran: false })
    expect(stderr).toContain('127.0.0.1:9')
  })
}
