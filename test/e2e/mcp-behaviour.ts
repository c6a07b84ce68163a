import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { call, eras, type Era } from './mcp-client.ts'
import { createPerson, remote, type Person } from './person.ts'
import { startServiceHere, type ServiceHere } from './service-here.ts'
import { temporaryFolder } from '../temporary-folder.ts'

// A service, one that requires a bearer, and the tests that every connection to the tools must pass.

export const key = 'svc_op_endtoend_0123456789012345678901234567890'
export const token = 'the-bearer-of-the-tool-server-0123456789'
export let folder: ReturnType<typeof temporaryFolder>
export let service: ServiceHere
export let guarded: ServiceHere
/** The environment of a command without an address or a key. */
export let config: { SVC_CONFIG_DIR: string }
let people = 0

/** Installs the set-up hooks in the test file that calls it. */
export const installHooks = (): void => {
  folder = temporaryFolder()
  config = { SVC_CONFIG_DIR: join(folder.path, 'config') }
  beforeAll(async () => {
    service = await startServiceHere(join(folder.path, 'data'), key, { dev: true })
    guarded = await startServiceHere(join(folder.path, 'guarded'), key, {
      dev: true,
      env: { MCP_AUTH_TOKEN: token },
    })
  })
  afterAll(async () => {
    await Promise.all([service.stop(), guarded.stop()])
    folder.remove()
  })
}

export const toolsUrl = ({ baseUrl } = service): string => new URL('/mcp', baseUrl).href

/** A new person for each test, because one phone receives at most five requests in ten minutes. */
export const newPerson = (): Promise<Person> => createPerson(remote(service.baseUrl, key), (people += 1))

/** Registers the tests that every connection to the tools must pass. */
export const behaves = (open: (mode: Era) => Promise<Client>): void => {
  const opened = new Map<Era, Promise<Client>>()
  /** One for each version of the protocol: a server answers many calls. */
  const connect = (mode: Era): Promise<Client> => {
    const client = opened.get(mode) ?? open(mode)
    opened.set(mode, client)
    return client
  }
  afterAll(async () => {
    for (const client of opened.values()) await (await client).close()
  })

  test.each(eras)('returns an approval with its receipt (%s)', async (_, mode) => {
    const ada = await newPerson()
    const client = await connect(mode)
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual([
      'request_approval',
      'request_approval_async',
      'check_status',
    ])
    const [{ result, text }] = await Promise.all([
      call(client, 'request_approval', { action: 'Deploy 4.2', approver_mobile: ada.mobile, timeout_s: 30 }),
      ada.answer(),
    ])
    expect(result).toMatchObject({ status: 'approved', attestation: { format: 'jws' } })
    const { jws } = result.attestation as { jws: string }
    expect(JSON.parse(Buffer.from(jws.split('.')[1]!, 'base64url').toString())).toMatchObject({
      action: 'Deploy 4.2',
    })
    const { attestation: _receipt, ...short } = result
    expect(JSON.parse(text)).toEqual(short)
    expect(text.length).toBeLessThan(240)
  })

  test.each(eras)('returns a denial, also to a later check_status (%s)', async (_, mode) => {
    const ada = await newPerson()
    const client = await connect(mode)
    const { result } = await call(client, 'request_approval_async', {
      action: 'Drop the table',
      approver_mobile: ada.mobile,
    })
    expect(result).toMatchObject({ status: 'pending', approver_mobile: ada.mobile })
    const status = () => call(client, 'check_status', { request_id: result.request_id })
    expect((await status()).result).toMatchObject({ status: 'pending' })
    await ada.answer({ decision: 'deny' })
    expect((await status()).result).toMatchObject({ status: 'denied', request_id: result.request_id })
  })

  test.each(eras)('withdraws the request when the client cancels the call (%s)', async (_, mode) => {
    const ada = await newPerson()
    const client = await connect(mode)
    const gone = new AbortController()
    const args = { action: 'Wipe the disk', approver_mobile: ada.mobile, timeout_s: 60 }
    const calling = client.callTool({ name: 'request_approval', arguments: args }, { signal: gone.signal })
    calling.catch(() => undefined)
    await ada.waitForRequest()
    gone.abort()
    await expect(calling).rejects.toThrow(/abort/i)
    await expect.poll(() => ada.requests('pending')).toEqual([])
  })

  test.each(eras)('expires at its timeout (%s)', async (_, mode) => {
    const ada = await newPerson()
    const client = await connect(mode)
    const { result } = await call(client, 'request_approval', {
      action: 'Nobody answers',
      approver_mobile: ada.mobile,
      timeout_s: 1,
    })
    expect(result.status).toBe('expired')
    expect(await ada.requests('pending')).toEqual([])
  })

  test.each(eras)('reports progress while it waits (%s)', async (_, mode) => {
    const ada = await newPerson()
    const client = await connect(mode)
    const messages: string[] = []
    const args = { action: 'Deploy 4.2', approver_mobile: ada.mobile, timeout_s: 30 }
    const onprogress = ({ message }: { message?: string | undefined }): void => void messages.push(message!)
    const calling = client.callTool({ name: 'request_approval', arguments: args }, { onprogress })
    await expect.poll(() => messages).toHaveLength(1)
    expect(messages[0]).toMatch(/^Waiting for \+\d+ to decide, 30 s left\. Request \w+_[\w-]+\.$/)
    await ada.answer()
    expect((await calling).structuredContent).toMatchObject({ status: 'approved' })
  })

  test('returns the number to type before the timeout', async () => {
    const ada = await newPerson()
    await ada.requireNumber()
    const client = await connect('legacy')
    const ask = { action: 'Deploy 4.2', approver_mobile: ada.mobile, timeout_s: 60 }
    const { result, text } = await call(client, 'request_approval', ask)
    expect(result).toMatchObject({ status: 'pending', number: expect.stringMatching(/^\d\d$/) })
    expect(text).toContain(`the number to type on the phone is ${result.number}`)
    const status = () => call(client, 'check_status', { request_id: result.request_id })
    expect((await status()).result).toMatchObject({ status: 'pending', number: result.number })
    await ada.answer({ decision: 'approve', number: String(result.number) })
    expect((await status()).result).toMatchObject({ status: 'approved', attestation: { format: 'jws' } })
  })

  test('explains invalid arguments and rejects unknown request IDs and tools', async () => {
    const client = await connect('legacy')
    expect((await call(client, 'request_approval', { action: '' })).text).toMatch(/^action must not be empty/)
    const unknown = await call(client, 'check_status', { request_id: 'apr_none' })
    expect([unknown.isError, unknown.text]).toEqual([true, expect.stringContaining('unknown request_id')])
    await expect(client.callTool({ name: 'approve_all' })).rejects.toMatchObject({ code: -32602 })
  })
}
