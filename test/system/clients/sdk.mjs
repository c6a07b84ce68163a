import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { fileURLToPath } from 'node:url'
import { bearer, play, server, textOf } from './story.mjs'

// The official SDK, version 1: by itself, or behind a bridge from standard input to HTTP.

const bridges = {
  'mcp-remote': ['mcp-remote/dist/proxy.js', server.url, '--allow-http', '--transport', 'http-only'],
  supergateway: ['supergateway/dist/index.js', '--streamableHttp', server.url, '--logLevel', 'none'],
}

const bridge = bridges[process.env.BRIDGE]
const program = bridge
  ? {
      command: process.execPath,
      args: [fileURLToPath(new URL(`node_modules/${bridge[0]}`, import.meta.url)), ...bridge.slice(1)],
      env: process.env,
    }
  : server
const transport = program.command
  ? new StdioClientTransport({ ...program, stderr: 'ignore' })
  : new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: bearer } })
const client = new Client({ name: 'sdk-v1', version: '1.0.0' })
await client.connect(transport)
await play({
  list: async () => (await client.listTools()).tools.map(({ name }) => name),
  ask: async (args) => textOf(await client.callTool({ name: 'request_approval', arguments: args })),
  close: () => client.close(),
})
