import { createServer } from 'node:http'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startService, type RunningService } from '../../../src/service/lifecycle/serve.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { svc } from '../svc.ts'

let dir: string
let remove: () => void
let service: RunningService
beforeEach(async () => {
  ;({ path: dir, remove } = temporaryFolder())
  service = await startService({
    host: '127.0.0.1',
    port: 0,
    dataDir: join(dir, 'data'),
    env: {},
    log: () => undefined,
  })
  saveProfiles({ local: profile({ api_key: service.operatorKey! }) })
})
afterEach(async () => {
  await service.stop()
  remove()
})

type Saved = Record<string, string>
const file = () => join(dir, 'config', 'profiles.json')
const profile = (keys: Saved, base = service.baseUrl): Saved => ({
  base_url: base,
  ...keys,
  ...Object.fromEntries(Object.keys(keys).map((name) => [`${name}_origin`, new URL(base).origin])),
})
const saveProfiles = (profiles: Record<string, Saved>): void => {
  mkdirSync(join(dir, 'config'), { recursive: true, mode: 0o700 })
  writeFileSync(file(), JSON.stringify({ version: 1, current: 'local', profiles }), { mode: 0o600 })
}
const saved = (): Record<string, Saved> => JSON.parse(readFileSync(file(), 'utf8')).profiles
const run = (line: string, env: Saved = {}) =>
  svc(line, { cwd: dir, env: { SVC_CONFIG_DIR: join(dir, 'config'), ...env }, now: () => new Date() })
const works = async (key: string): Promise<boolean> =>
  (await fetch(`${new URL(service.baseUrl).origin}/svc/v1/whoami`, { headers: { 'x-api-key': key } })).ok
const made = async (line: string) => (await run(`${line} -o json`)).data() as { id: string; key: string }

describe('svc key rotate', () => {
  test('saves the new secret wherever this machine holds the key, and nowhere else', async () => {
    const old = service.operatorKey!
    const other = `svc_op_00000000_${'x'.repeat(43)}`
    const elsewhere = profile({ api_key: old }, 'https://host.example/admin/public/api')
    saveProfiles({
      local: profile({ api_key: old, ask_key: other }),
      asks: profile({ api_key: other, ask_key: old }),
      elsewhere,
    })
    const { exit, out, err } = await run('key rotate 1 --jq .key')
    const key = out.trim()
    expect(exit).toBe(0)
    expect(saved()).toEqual({
      local: profile({ api_key: key, ask_key: other }),
      asks: profile({ api_key: other, ask_key: key }),
      elsewhere,
    })
    expect(err).toContain('Saved in profile local (API key), profile asks (ask key)\n')
    expect(err).toMatch(/^Secret 1 works until \d{4}-\S+Z\. To end it now: svc key revoke 1$/m)
    expect([await works(old), await works(key)]).toEqual([true, true])
    expect(await run('key revoke 1 --yes')).toMatchObject({ exit: 0 })
    expect([await works(old), await works(key)]).toEqual([false, true])
    expect((await run('whoami -o json')).data()).toMatchObject({ key_id: '2' })
  })

  test('ends every older secret with --overlap 0, and says which', async () => {
    const first = await made('key create --name ci --can ask')
    const second = await made(`key rotate ${first.id}`)
    const { exit, err, out } = await run(`key rotate ${second.id} --overlap 0 --jq .key`)
    expect(exit).toBe(0)
    expect(err).toContain(`Ended: secrets ${first.id}, ${second.id}\n`)
    const keys = [first.key, second.key, out.trim()]
    expect(await Promise.all(keys.map(works))).toEqual([false, false, true])
  })

  test('ends the old secret of a profile with --overlap 0, after it has saved the new one', async () => {
    const { data, err } = await run('key rotate 1 --overlap 0 -o json')
    expect(data()).toMatchObject({ older_secrets: [] })
    expect(err).toBe('Saved in profile local (API key)\nEnded: secret 1\n')
    expect([await works(service.operatorKey!), await works(data().key)]).toEqual([false, true])
  })

  test('saves the secret before it ends the old one, even if the connection breaks in between', async () => {
    const seen: string[] = []
    const proxy = createServer((request, response) => {
      const { method, url, headers } = request
      if (method === 'DELETE') {
        seen.push(saved()['local']!['api_key']!)
        return void request.socket.destroy()
      }
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', async () => {
        const { host: _, 'content-length': __, connection: ___, ...sent } = headers as Saved
        const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}
        const answer = await fetch(`${new URL(service.baseUrl).origin}${url}`, {
          method: method!,
          headers: sent,
          ...body,
        })
        response.writeHead(answer.status, { 'content-type': 'application/json' })
        response.end(await answer.text())
      })
    })
    await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve))
    const base = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/admin/public/api`
    try {
      const old = service.operatorKey!
      saveProfiles({ local: profile({ api_key: old }, base) })
      const { exit, out, message, hint } = await run('key rotate 1 --overlap 0')
      const key = /svc_op_\S{40,}/.exec(out)![0]
      expect(exit).not.toBe(0)
      expect(message).toContain('The new secret is saved, but the old one was not ended: ')
      expect(hint).toBe('svc key revoke 1 ends it')
      expect(new Set(seen)).toEqual(new Set([key]))
      expect([saved()['local']!['api_key'], await works(old), await works(key)]).toEqual([key, true, true])
      expect(
        (
          await run(`${hint!.slice(4).split(' ends')[0]} --yes --base-url ${service.baseUrl}`, {
            SVC_API_KEY: key,
          })
        ).exit,
      ).toBe(0)
      expect([await works(old), await works(key)]).toEqual([false, true])
    } finally {
      proxy.closeAllConnections()
      proxy.close()
    }
  })

  test('names a key in the environment, which it cannot replace', async () => {
    const { err } = await run('key rotate 1', {
      SVC_API_KEY: service.operatorKey!,
      SVC_BASE_URL: service.baseUrl,
    })
    expect(err).toContain('The key in SVC_API_KEY is an old secret; replace it with the new one\n')
  })

  test('of a replaced secret leads to the commands that work', async () => {
    const first = await made('key create --name ci --can ask')
    const second = await made(`key rotate ${first.id}`)
    const { exit, hint } = await run(`key rotate ${first.id} --overlap 0`)
    expect([exit, hint]).toEqual([
      3,
      `svc key revoke ${first.id} ends this secret now; svc key rotate ${second.id} replaces the newest one`,
    ])
    expect((await run(`key revoke ${first.id} --yes`)).exit).toBe(0)
    expect((await run(`key rotate ${second.id}`)).exit).toBe(0)
  })
})

describe('svc key revoke', () => {
  test('says what else ended, also with --yes, and in the data', async () => {
    const lead = await made('key create --name lead --can keys,ask')
    const env = { SVC_API_KEY: lead.key, SVC_BASE_URL: service.baseUrl }
    const child = (await run('key create --name child --can ask -o json', env)).data() as { id: string }
    const next = await made(`key rotate ${lead.id}`)
    const { err, data } = await run(`key revoke ${next.id} --yes -o json`)
    expect(err).toContain(`1 key is revoked with it: ${child.id} child (ask)\n`)
    expect(err).toContain(`Its older secrets end too: ${lead.id}\n`)
    expect(data()).toMatchObject({ secrets: [lead.id], created_keys: [{ id: child.id }], newest_id: null })
  })

  test('of a replaced secret says that its successor stays', async () => {
    const lead = await made('key create --name lead --can ask')
    const next = await made(`key rotate ${lead.id}`)
    const { err } = await run(`key revoke ${lead.id} --yes`)
    expect(err).toBe(
      `Only this secret ends. Secret ${next.id}, which replaced it, still works; svc key revoke ${next.id} ends the key\n`,
    )
  })

  test('names the profile that loses its key', async () => {
    const mine = await made('key create --name mine --can ask')
    saveProfiles({ ...saved(), mine: profile({ api_key: mine.key }) })
    const { err } = await run(`key revoke ${mine.id} --yes`)
    expect(err).toBe(
      'This machine used it in profile mine (API key); svc profile login mine saves another key\n',
    )
  })
})
