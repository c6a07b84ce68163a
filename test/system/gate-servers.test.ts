import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPerson, remote } from '../e2e/person.ts'
import { bin, startService, type Service } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { machine } from '../machine.ts'

// Published servers behind the gate, with the official client. They are too large to install with the other packages:
// SVC_TEST_MCP_SERVERS names a folder with @modelcontextprotocol/server-{everything,filesystem,memory} in node_modules.

const installed = process.env['SVC_TEST_MCP_SERVERS'] ?? ''
const entry = (name: string): string =>
  join(installed, 'node_modules/@modelcontextprotocol', `server-${name}`, 'dist/index.js')
const operator = 'svc_op_endtoend_0123456789012345678901234567890'
const folder = temporaryFolder()
const path = (name: string): string => join(folder.path, name)
let service: Service
let people = 0

beforeAll(async () => {
  service = await startService(path('data'), operator, ['--dev'])
})
afterAll(async () => {
  await service.stop()
  folder.remove()
})

const connect = async (name: string, { pass, args = [] }: { pass: string[]; args?: string[] }) => {
  const at = remote(service.baseUrl, operator)
  const ada = await createPerson(at, (people += 1))
  const body = { name, org_id: ada.org.id, scopes: ['ask'] }
  writeFileSync(path('key'), (await at.call('POST', '/svc/v1/keys', { body })).body.data.key, { mode: 0o600 })
  const rules = [{ tools: pass, action: 'pass' }]
  writeFileSync(path('gate.yaml'), JSON.stringify({ server: name, to: ada.mobile, rules }))
  const client = new Client({ name: 'robot', version: '1' })
  const own = ['--rules', path('gate.yaml'), '--base-url', service.baseUrl, '--key-file', path('key')]
  const variables = { MEMORY_FILE_PATH: path('memory.jsonl') }
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [
        bin,
        'mcp',
        'gate',
        ...own,
        '--env',
        'MEMORY_FILE_PATH',
        '--',
        process.execPath,
        entry(name),
        ...args,
      ],
      env: { ...machine, SVC_CONFIG_DIR: path('config'), ...variables },
      stderr: 'ignore',
    }),
  )
  const call = async (tool: string, given: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name: tool, arguments: given })
    return { isError, text: (content as { text: string }[])[0]!.text }
  }
  /** Calls a tool that is held, and decides. */
  const decided = async (decision: 'approve' | 'deny', tool: string, given: Record<string, unknown>) => {
    const [result] = await Promise.all([call(tool, given), ada.answer({ decision })])
    return result
  }
  return { client, call, decided }
}

const entities = (name: string) => ({ entities: [{ name, entityType: 'person', observations: [] }] })

describe.skipIf(!existsSync(entry('memory')))('a published server behind the gate', () => {
  test('filesystem: writes a file only after a person has approved it', async () => {
    const root = path('files')
    mkdirSync(root)
    const { client, call, decided } = await connect('filesystem', {
      pass: ['list_*', 'read_*'],
      args: [root],
    })
    expect((await client.listTools()).tools.length).toBeGreaterThan(5)
    expect((await decided('deny', 'write_file', { path: join(root, 'a'), content: 'no' })).isError).toBe(true)
    expect(readdirSync(root)).toEqual([])
    await decided('approve', 'write_file', { path: join(root, 'a'), content: 'yes' })
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('yes')
    expect((await call('list_directory', { path: root })).text).toContain('a')
    await client.close()
  })

  test('memory: stores nothing that was denied', async () => {
    const { client, call, decided } = await connect('memory', { pass: ['read_graph'] })
    expect((await decided('deny', 'create_entities', entities('Bob'))).isError).toBe(true)
    await decided('approve', 'create_entities', entities('Ada'))
    const { text } = await call('read_graph')
    expect([text.includes('Ada'), text.includes('Bob')]).toEqual([true, false])
    await client.close()
  })

  test('everything: prompts, resources and tools pass, and a held tool waits', async () => {
    const { client, call, decided } = await connect('everything', { pass: ['echo'] })
    expect((await client.listPrompts()).prompts.length).toBeGreaterThan(0)
    expect((await client.listResources()).resources.length).toBeGreaterThan(0)
    expect((await call('echo', { message: 'hello' })).text).toContain('hello')
    expect((await decided('deny', 'get-sum', { a: 1, b: 2 })).text).toMatch(/^Not done\./)
    expect((await decided('approve', 'get-sum', { a: 1, b: 2 })).text).toContain('3')
    await client.close()
  })
})
