import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

// A model on loopback, in the protocols of four agents: it makes its calls one after another, then says that it is done. Those
// of tool servers it makes in the protocols of Anthropic and of Codex.

/** A command for the shell, or a call of a tool of a server or, in the protocol of Anthropic, of the host. */
export type ScriptedCall = string | { server?: string; tool: string; input: object }

type Body = {
  model?: string
  stream?: boolean
  tools?: { name?: string; function?: { name: string }; type?: string }[]
  [name: string]: unknown
}

const stream = (response: ServerResponse, events: [name: string, data: object][], end = ''): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const [name, data] of events)
    response.write(`${name === '' ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`)
  response.end(end)
}
const json = (response: ServerResponse, data: object): void => {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(data))
}

/** `call`: none once all were made. `at` is its place. */
type Reply = (response: ServerResponse, body: Body, call: ScriptedCall | undefined, at: number) => void

const shellOf = (call: ScriptedCall): string => {
  if (typeof call === 'string') return call
  throw new Error(`Only the shell can be called in this protocol, not ${call.tool}`)
}

const messagesCall = (call: ScriptedCall): { name: string; input: object } =>
  typeof call === 'string'
    ? { name: 'Bash', input: { command: call, description: 'Runs it' } }
    : { name: call.server === undefined ? call.tool : `mcp__${call.server}__${call.tool}`, input: call.input }

/** Messages API of Anthropic. */
const messages: Reply = (response, { model }, call, at) => {
  const { name, input } = messagesCall(call ?? '')
  const block = call ? { type: 'tool_use', id: `toolu_${at}`, name, input: {} } : { type: 'text', text: '' }
  const delta = call
    ? { type: 'input_json_delta', partial_json: JSON.stringify(input) }
    : { type: 'text_delta', text: 'Done.' }
  const usage = { input_tokens: 1, output_tokens: 1 }
  const message = {
    id: `msg_${at}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    usage,
  }
  stream(response, [
    ['message_start', { type: 'message_start', message }],
    ['content_block_start', { type: 'content_block_start', index: 0, content_block: block }],
    ['content_block_delta', { type: 'content_block_delta', index: 0, delta }],
    ['content_block_stop', { type: 'content_block_stop', index: 0 }],
    [
      'message_delta',
      { type: 'message_delta', delta: { stop_reason: call ? 'tool_use' : 'end_turn' }, usage },
    ],
    ['message_stop', { type: 'message_stop' }],
  ])
}

/** Responses API of OpenAI. */
const responses: Reply = (response, { tools = [] }, call, at) => {
  const command = typeof call === 'string' ? call : ''
  const names = new Set(tools.map(({ name }) => name))
  const shells: [string, object][] = [
    ['exec_command', { cmd: command }],
    ['shell_command', { command }],
    ['shell', { command: ['sh', '-c', command] }],
  ]
  const [shell, args] = shells.find(([one]) => names.has(one)) ?? shells[0]!
  const made =
    typeof call === 'object'
      ? { namespace: `mcp__${call.server}`, name: call.tool, arguments: JSON.stringify(call.input) }
      : { name: shell, arguments: JSON.stringify(args) }
  const item = call
    ? { type: 'function_call', id: `fc_${at}`, call_id: `call_${at}`, ...made }
    : { type: 'message', id: 'm_1', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] }
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  stream(response, [
    ['response.created', { type: 'response.created', response: { id: 'resp_1' } }],
    ['response.output_item.done', { type: 'response.output_item.done', output_index: 0, item }],
    ['response.completed', { type: 'response.completed', response: { id: 'resp_1', usage } }],
  ])
}

/** Chat Completions API of OpenAI. */
const completions: Reply = (response, { model, stream: streams }, next) => {
  const call = next && {
    index: 0,
    id: 'call_1',
    type: 'function',
    function: { name: 'bash', arguments: JSON.stringify({ command: shellOf(next), description: 'Runs it' }) },
  }
  const message = {
    role: 'assistant',
    ...(call ? { content: null, tool_calls: [call] } : { content: 'Done.' }),
  }
  const finish_reason = call ? 'tool_calls' : 'stop'
  const head = {
    id: 'c_1',
    created: 1,
    model,
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }
  if (!streams)
    return json(response, {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason }],
    })
  const chunk = (delta: object, finish: string | null): [string, object] => [
    '',
    { ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] },
  ]
  stream(response, [chunk(message, null), chunk({}, finish_reason)], 'data: [DONE]\n\n')
}

/** Gemini API. */
const contents: Reply = (response, { stream: streams }, call) => {
  const part = call
    ? { functionCall: { name: 'run_shell_command', args: { command: shellOf(call) } } }
    : { text: 'Done.' }
  const data = {
    candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  }
  if (streams) stream(response, [['', data]])
  else json(response, data)
}

export const startModel = async (...calls: ScriptedCall[]) => {
  const requests: { path: string; text: string }[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const text = Buffer.concat(parts).toString('utf8')
      const path = request.url ?? ''
      requests.push({ path, text })
      const body = (text.startsWith('{') ? JSON.parse(text) : {}) as Body
      const answered =
        text.match(/"tool_result"|"function_call_output"|"functionResponse"|"role":\s*"tool"/g) ?? []
      // A side request, such as for a title, brings no shell.
      const hasShell = /"(?:Bash|bash|exec_command|shell_command|shell|run_shell_command)"/.test(
        JSON.stringify(body.tools ?? []),
      )
      const at = answered.length
      const call = hasShell ? calls[at] : undefined
      if (path.includes('count_tokens')) return json(response, { input_tokens: 1 })
      if (path.includes('countTokens')) return json(response, { totalTokens: 1 })
      if (path.includes('/messages')) return messages(response, body, call, at)
      if (path.includes('/responses')) return responses(response, body, call, at)
      if (path.includes('/chat/completions')) return completions(response, body, call, at)
      if (path.includes('enerateContent'))
        return contents(response, { ...body, stream: path.includes('streamGenerate') }, call, at)
      return json(response, { data: [], models: [] })
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
