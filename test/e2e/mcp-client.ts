import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { bin } from './processes.ts'
import { machine } from '../machine.ts'

// The official client, for both versions of the protocol.

export type Era = 'legacy' | { pin: string }
export const eras: [string, Era][] = [
  ['2025-11-25', 'legacy'],
  ['2026-07-28', { pin: '2026-07-28' }],
]
const open = (mode: Era): Client =>
  new Client({ name: 'robot', version: '1' }, { versionNegotiation: { mode } })

export const overHttp = async (mode: Era, url: string, bearer?: string): Promise<Client> => {
  const client = open(mode)
  const headers: Record<string, string> = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  return client
}
export const overStdio = async (mode: Era, childEnv: Record<string, string>): Promise<Client> => {
  const client = open(mode)
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [bin, 'mcp'],
      env: { ...machine, ...childEnv },
      stderr: 'ignore',
    }),
  )
  return client
}

export const call = async (client: Client, name: string, args: Record<string, unknown>) => {
  const { structuredContent, content, isError } = await client.callTool({ name, arguments: args })
  return {
    result: structuredContent as Record<string, unknown>,
    text: (content as { text: string }[])[0]!.text,
    isError,
  }
}
