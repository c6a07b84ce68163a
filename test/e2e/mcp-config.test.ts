import { join } from 'node:path'
import { parse } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { config, env, folder, installHooks, key, person, service } from './mcp-stage.ts'
import { bin, svc } from './processes.ts'

installHooks()

/** Starts a printed configuration in its own environment, as a client does. */
const startPasted = async (json: string, name = 'svc') => {
  const { command, args, env: own } = JSON.parse(json).mcpServers[name]
  const client = new Client({ name: 'Pasted', version: '1' })
  await client.connect(new StdioClientTransport({ command, args, env: own, stderr: 'ignore' }))
  return client
}

describe('svc mcp config', () => {
  test.each(['claude', 'cursor', 'vscode', 'gemini', 'generic'])(
    'prints JSON without a secret for %s',
    async (client) => {
      const { exit, stdout, stderr } = await svc(['mcp', 'config', client], { ...env, SVC_ORG: 'acme' })
      expect(exit).toBe(0)
      const { servers, mcpServers } = JSON.parse(stdout)
      expect((servers ?? mcpServers).svc).toMatchObject({
        command: process.execPath,
        args: [bin, 'mcp'],
        env: { SVC_BASE_URL: service.baseUrl, SVC_ORG: 'acme', SVC_API_KEY: expect.any(String) },
      })
      expect(stdout + stderr).not.toContain(key)
      expect(stderr).toMatch(/^# /)
      expect(stderr).toContain('SVC_API_KEY: ')
    },
  )

  test('prints TOML for Codex, which takes secrets from its environment', async () => {
    const { exit, stdout, stderr } = await svc(['mcp', 'config', 'codex'], env)
    expect(exit).toBe(0)
    expect(parse(stdout)).toEqual({
      mcp_servers: {
        svc: {
          command: process.execPath,
          args: [bin, 'mcp'],
          tool_timeout_sec: 600,
          env_vars: ['SVC_API_KEY'],
          env: { SVC_BASE_URL: service.baseUrl },
        },
      },
    })
    expect(stdout + stderr).not.toContain(key)
    expect(stderr).toContain('# Codex: ~/.codex/config.toml')
    const http = await svc(['mcp', 'config', 'codex', '--http'], {
      ...env,
      SVC_MCP_URL: 'https://svc.example.com/mcp',
      MCP_AUTH_TOKEN: 'a-secret',
    })
    expect(parse(http.stdout)).toEqual({
      mcp_servers: {
        svc: {
          url: 'https://svc.example.com/mcp',
          tool_timeout_sec: 600,
          bearer_token_env_var: 'MCP_AUTH_TOKEN',
        },
      },
    })
    const json = await svc(['mcp', 'config', 'codex', '--jq', '.mcp_servers.svc.tool_timeout_sec'], env)
    expect(json.stdout).toBe('600\n')
  })

  test('works as pasted with the profile of a local service, and uses the key of the profile', async () => {
    const saved = { SVC_CONFIG_DIR: join(folder.path, 'saved') }
    const mcp = new URL('/mcp', service.baseUrl).href
    const added = await svc(
      ['profile', 'create', 'local', '--base-url', service.baseUrl, '--mcp-url', mcp, '--with-key'],
      saved,
      key,
    )
    expect(added).toMatchObject({ exit: 0 })
    const { stdout, stderr } = await svc(['mcp', 'config', 'claude'], saved)
    expect(stdout).not.toMatch(/MCP_AUTH_TOKEN|SVC_API_KEY|<your/)
    expect(stderr).not.toContain('secret')
    const ada = await person()
    const client = await startPasted(stdout)
    await client.callTool({
      name: 'request_approval_async',
      arguments: { action: 'Deploy', approver_mobile: ada.mobile },
    })
    expect(await ada.requests('pending')).toMatchObject([
      { requester: 'Pasted', verified_as: expect.stringMatching(/^key "/) },
    ])
    await ada.answer({ decision: 'deny' })
    await client.close()
  })

  test('prints the tool server over HTTP, with a bearer only if one is required', async () => {
    const local = { ...config, SVC_MCP_URL: new URL('/mcp', service.baseUrl).href }
    const open = await svc(['mcp', 'config', 'claude', '--http'], local)
    expect(JSON.parse(open.stdout)).toEqual({ mcpServers: { svc: { type: 'http', url: local.SVC_MCP_URL } } })
    const guarded = await svc(['mcp', 'config', 'claude', '--http'], { ...local, MCP_AUTH_TOKEN: key })
    expect(JSON.parse(guarded.stdout).mcpServers.svc.headers).toEqual({
      Authorization: 'Bearer ${MCP_AUTH_TOKEN}',
    })
    expect(guarded.stdout + guarded.stderr).not.toContain(key)
    const remote = { ...config, SVC_MCP_URL: 'https://svc.example.com/mcp' }
    const alone = await svc(['mcp', 'config', 'vscode', '--http'], remote)
    expect(JSON.parse(alone.stdout)).toEqual({
      servers: { svc: { type: 'http', url: 'https://svc.example.com/mcp' } },
      inputs: [],
    })
    const vscode = await svc(['mcp', 'config', 'vscode', '--http'], { ...remote, MCP_AUTH_TOKEN: key })
    expect(JSON.parse(vscode.stdout)).toMatchObject({
      servers: { svc: { headers: { Authorization: 'Bearer ${input:mcp-auth-token}' } } },
      inputs: [{ id: 'mcp-auth-token', password: true }],
    })
    expect((await svc(['mcp', 'config', 'claude', '--http'], config)).exit).toBe(2)
  })

  test('lists the supported clients', async () => {
    const { exit, stderr } = await svc(['mcp', 'config', 'emacs'], env)
    expect(exit).toBe(2)
    expect(stderr).toContain('claude, cursor, vscode, codex, gemini or generic')
  })
})
