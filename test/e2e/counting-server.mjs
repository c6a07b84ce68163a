import { appendFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

// A real MCP server that writes each call that it carries out, with its time, and each line that it receives, to files.

const { LEDGER, PIDS, STUBBORN } = process.env
const text = (one) => ({ content: [{ type: 'text', text: one }] })
const schema = (properties) => fromJsonSchema({ type: 'object', properties })
const done = (tool, args) => {
  const at = new Date().toISOString()
  appendFileSync(LEDGER, `${JSON.stringify({ tool, args, at })}\n`)
}

process.stdin.on('data', (bytes) => appendFileSync(`${LEDGER}.raw`, bytes))
appendFileSync(LEDGER, '')

let description = 'Writes a file'
const servers = new Set()

const create = () => {
  const server = new McpServer({ name: 'counting', version: '1' }, { capabilities: { logging: {} } })
  const add = (name, about, properties, run) =>
    server.registerTool(name, { description: about, inputSchema: schema(properties) }, run)
  const write = add('write_file', description, { path: {}, text: {} }, (args) => {
    done('write_file', args)
    return text('written')
  })
  servers.add(write)
  add('read_file', 'Reads a file', { path: {} }, (args) => {
    done('read_file', args)
    return text('content')
  })
  add('die', 'Ends the server', {}, (args) => {
    done('die', args)
    process.exit(3)
  })
  add('change', 'Changes a description', { to: { type: 'string' } }, ({ to }) => {
    description = to
    for (const one of servers) one.update({ description: to })
    return text('changed')
  })
  add('ask_client', 'Asks the client', {}, async () => {
    const { roots } = await server.server.listRoots()
    const { content } = await server.server.createMessage({
      messages: [{ role: 'user', content: { type: 'text', text: 'Hello' } }],
      maxTokens: 10,
    })
    const { action } = await server.server.elicitInput({
      message: 'Sure?',
      requestedSchema: { type: 'object', properties: { sure: { type: 'boolean' } } },
    })
    await server.server.sendLoggingMessage({ level: 'info', data: 'asked' })
    return text(`${roots[0].uri} ${content.text} ${action}`)
  })
  return server
}

if (STUBBORN) {
  process.on('SIGTERM', () => undefined)
  setInterval(() => undefined, 1000)
}
if (PIDS) {
  const child = spawn(
    process.execPath,
    ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'],
    {
      stdio: 'ignore',
    },
  )
  appendFileSync(PIDS, `${process.pid} ${child.pid}\n`)
}

serveStdio(create)
