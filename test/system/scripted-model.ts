import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

// A model on loopback, in the protocols of four agents: it first calls the shell with one command, then says that it is done.

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

type Reply = (response: ServerResponse, body: Body, calls: boolean, command: string) => void

/** Messages API of Anthropic. */
const messages: Reply = (response, { model }, calls, command) => {
  const block = calls
    ? { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: {} }
    : { type: 'text', text: '' }
  const delta = calls
    ? { type: 'input_json_delta', partial_json: JSON.stringify({ command, description: 'Runs it' }) }
    : { type: 'text_delta', text: 'Done.' }
  const usage = { input_tokens: 1, output_tokens: 1 }
  const message = {
    id: 'msg_1',
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
      { type: 'message_delta', delta: { stop_reason: calls ? 'tool_use' : 'end_turn' }, usage },
    ],
    ['message_stop', { type: 'message_stop' }],
  ])
}

/** Responses API of OpenAI. */
const responses: Reply = (response, { tools = [] }, calls, command) => {
  const names = new Set(tools.map(({ name }) => name))
  const shells: [string, object][] = [
    ['exec_command', { cmd: command }],
    ['shell_command', { command }],
    ['shell', { command: ['sh', '-c', command] }],
  ]
  const [name, args] = shells.find(([one]) => names.has(one)) ?? shells[0]!
  const item = calls
    ? { type: 'function_call', id: 'fc_1', call_id: 'call_1', name, arguments: JSON.stringify(args) }
    : { type: 'message', id: 'm_1', role: 'assistant', content: [{ type: 'output_text', text: 'Done.' }] }
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  stream(response, [
    ['response.created', { type: 'response.created', response: { id: 'resp_1' } }],
    ['response.output_item.done', { type: 'response.output_item.done', output_index: 0, item }],
    ['response.completed', { type: 'response.completed', response: { id: 'resp_1', usage } }],
  ])
}

/** Chat Completions API of OpenAI. */
const completions: Reply = (response, { model, stream: streams }, calls, command) => {
  const call = {
    index: 0,
    id: 'call_1',
    type: 'function',
    function: { name: 'bash', arguments: JSON.stringify({ command, description: 'Runs it' }) },
  }
  const message = {
    role: 'assistant',
    ...(calls ? { content: null, tool_calls: [call] } : { content: 'Done.' }),
  }
  const finish_reason = calls ? 'tool_calls' : 'stop'
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
const contents: Reply = (response, { stream: streams }, calls, command) => {
  const part = calls ? { functionCall: { name: 'run_shell_command', args: { command } } } : { text: 'Done.' }
  const data = {
    candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  }
  if (streams) stream(response, [['', data]])
  else json(response, data)
}

export const startModel = async (command: string) => {
  const requests: { path: string; text: string }[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const text = Buffer.concat(parts).toString('utf8')
      const path = request.url ?? ''
      requests.push({ path, text })
      const body = (text.startsWith('{') ? JSON.parse(text) : {}) as Body
      const answered = /"tool_result"|"function_call_output"|"functionResponse"|"role":\s*"tool"/.test(text)
      // A side request, such as for a title, brings no shell.
      const hasShell = /"(?:Bash|bash|exec_command|shell_command|shell|run_shell_command)"/.test(
        JSON.stringify(body.tools ?? []),
      )
      const calls = hasShell && !answered
      if (path.includes('count_tokens')) return json(response, { input_tokens: 1 })
      if (path.includes('countTokens')) return json(response, { totalTokens: 1 })
      if (path.includes('/messages')) return messages(response, body, calls, command)
      if (path.includes('/responses')) return responses(response, body, calls, command)
      if (path.includes('/chat/completions')) return completions(response, body, calls, command)
      if (path.includes('enerateContent'))
        return contents(response, { ...body, stream: path.includes('streamGenerate') }, calls, command)
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
