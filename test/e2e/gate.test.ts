import { describe, expect, test } from 'vitest'
import { ada, installHooks, keyFile, requests, factorsFor, service, startGate } from './gate-run.ts'

installHooks()

const write = { path: '/srv/a', text: 'one' }

describe('svc mcp gate', () => {
  test('forwards the exact bytes of an approved call, once', async () => {
    const gate = await startGate()
    const line =
      '{"jsonrpc":"2.0", "id":7,"method":"tools\\/call","params":{"arguments":{"text":"\\u006fne","n":1.50},"name":"write_file"}}'
    gate.write(line)
    await ada.answer()
    expect((await gate.answer(7)).result.content).toEqual([{ type: 'text', text: 'written' }])
    expect(
      gate
        .raw()
        .toString()
        .split('\n')
        .filter((one) => one === line),
    ).toHaveLength(1)
    expect(gate.done()).toEqual([{ tool: 'write_file', args: { text: 'one', n: 1.5 } }])
    await gate.close()
  })

  test('forwards a line separator in a text as its escape', async () => {
    const gate = await startGate()
    gate.call(1, 'read_file', { path: 'one\u2028two\u2029three\u0085four' })
    expect((await gate.answer(1)).result.content).toEqual([{ type: 'text', text: 'content' }])
    expect(gate.done()).toEqual([{ tool: 'read_file', args: { path: 'one\u2028two\u2029three\u0085four' } }])
    expect(gate.raw().toString()).toContain(String.raw`one\u2028two\u2029three\u0085four`)
    await gate.close()
  })

  test('shows the approver the server, the tool and the arguments, and who asks', async () => {
    const gate = await startGate()
    gate.call(1, 'write_file', write)
    await ada.waitForRequest()
    const [request] = await requests('pending')
    expect(request).toMatchObject({
      action: 'Call write_file on files',
      requester: 'Robot 7',
      subject: {
        type: 'tool_call',
        data: {
          server: 'files',
          tool: 'write_file',
          arguments: write,
          definition: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
        },
      },
    })
    await ada.answer({ decision: 'deny' })
    await gate.answer(1)
    await gate.close()
  })

  test('answers a denied call with a text that tells the model not to go around it', async () => {
    const gate = await startGate()
    gate.call(1, 'write_file', write)
    await ada.answer({ decision: 'deny' })
    const { result } = await gate.answer(1)
    expect(result.isError).toBe(true)
    expect(result.content[0].text).toMatch(
      /^Not done\. A person .* denied it\..*Do not call it again.*another way\.$/,
    )
    expect(gate.done()).toEqual([])
    await gate.close()
  })

  test('forwards nothing when nobody decides in time', async () => {
    const gate = await startGate({ rules: factorsFor(ada.mobile).replace('60', '1') })
    gate.call(1, 'write_file', write)
    expect((await gate.answer(1)).result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('did not decide in time') }],
    })
    expect(gate.done()).toEqual([])
    await gate.close()
  })

  test('asks again for the same call, and for other arguments', async () => {
    const gate = await startGate()
    gate.call(1, 'write_file', write)
    await ada.answer()
    await gate.answer(1)
    gate.call(2, 'write_file', write)
    await ada.answer({ decision: 'deny' })
    gate.call(3, 'write_file', { ...write, text: 'two' })
    await ada.answer({ decision: 'deny' })
    expect([(await gate.answer(2)).result.isError, (await gate.answer(3)).result.isError]).toEqual([
      true,
      true,
    ])
    expect(gate.done()).toHaveLength(1)
    await gate.close()
  })

  test('withdraws the request and forwards nothing when the client cancels', async () => {
    const gate = await startGate()
    gate.call(1, 'write_file', write)
    const id = await ada.waitForRequest()
    gate.send({ method: 'notifications/cancelled', params: { requestId: 1 } })
    await expect.poll(async () => (await ada.requests('expired')).map((one) => one.request_id)).toEqual([id])
    gate.call(2, 'read_file')
    await gate.answer(2)
    expect(gate.lines.filter((line) => line.id === 1)).toEqual([])
    expect(gate.done().map(({ tool }) => tool)).toEqual(['read_file'])
    expect(gate.raw().toString()).not.toContain('cancelled')
    await gate.close()
  })

  test('holds more than ten calls at once without a warning of Node', async () => {
    const gate = await startGate()
    const ids = Array.from({ length: 16 }, (_, i) => i)
    for (const id of ids) gate.call(id, 'write_file', { ...write, text: String(id) })
    // Three are pending; the service refuses the others.
    await gate.until(() => gate.lines.filter(({ result }) => result?.isError).length === ids.length - 3)
    await gate.close()
    expect(gate.log()).not.toContain('Warning')
  })

  test('reports progress while a person decides, if the client sent a token', async () => {
    const gate = await startGate()
    gate.call(1, 'write_file', write, { progressToken: 'p' })
    const { params } = await gate.until(() =>
      gate.lines.find(({ method }) => method === 'notifications/progress'),
    )
    expect(params).toMatchObject({
      progressToken: 'p',
      progress: expect.any(Number),
      message: expect.stringMatching(
        /^Waiting for [A-Z]\w* \w+ to approve write_file, (?:1:00|0:5\d) left\.$/,
      ),
    })
    await ada.answer({ decision: 'deny' })
    await gate.answer(1)
    await gate.close()
  })

  test('passes messages in both directions: sampling, elicitation, roots and logging, but no unknown method', async () => {
    const gate = await startGate()
    gate.send({ id: 'ping', method: 'ping' })
    expect((await gate.answer('ping')).result).toEqual({})
    gate.send({ id: 'odd', method: 'acme/unknown' })
    expect((await gate.answer('odd')).error.message).toContain('"acme/unknown", which is not one of MCP')
    expect(gate.raw().toString()).not.toContain('acme')
    gate.call(1, 'ask_client')
    const reply = async (method: string, result: object): Promise<void> => {
      const { id } = await gate.until(() => gate.lines.find((line) => line.method === method))
      gate.send({ id, result })
    }
    await reply('roots/list', { roots: [{ uri: 'file:///srv' }] })
    await reply('sampling/createMessage', {
      role: 'assistant',
      model: 'm',
      content: { type: 'text', text: 'Hi' },
    })
    await reply('elicitation/create', { action: 'decline' })
    expect((await gate.answer(1)).result.content[0].text).toBe('file:///srv Hi decline')
    expect(gate.lines.some(({ method }) => method === 'notifications/message')).toBe(true)
    await gate.close()
  })
})

describe('a changed tool', () => {
  test('is asked about again, and the approver sees what changed, when it changes before the decision', async () => {
    const gate = await startGate()
    gate.call(1, 'write_file', write)
    const first = await ada.waitForRequest()
    gate.call(2, 'change', { to: 'Writes a file and mails it' })
    await gate.answer(2)
    await ada.answer()
    await expect
      .poll(async () => (await ada.requests('pending')).map((one) => one.request_id))
      .toHaveLength(1)
    const [second] = await requests('pending')
    expect(second.request_id).not.toBe(first)
    expect(second.subject.data.definition.changed.description).toEqual({
      before: 'Writes a file',
      now: 'Writes a file and mails it',
    })
    expect(gate.done()).toEqual([])
    await ada.answer({ decision: 'deny' })
    expect((await gate.answer(1)).result.isError).toBe(true)
    expect(gate.done()).toEqual([])
    const [approved] = await requests('approved')
    expect(approved).toMatchObject({ request_id: first, used_at: null })
    await gate.close()
  })

  test('is shown as changed since the last approval, also by a later gate', async () => {
    const rules = factorsFor(ada.mobile)
    const gate = await startGate({ rules })
    gate.call(1, 'write_file', write)
    await ada.answer()
    await gate.answer(1)
    gate.call(2, 'change', { to: 'Writes everywhere' })
    await gate.answer(2)
    gate.call(3, 'write_file', write)
    await ada.waitForRequest()
    const [request] = await requests('pending')
    expect(request.action).toBe('Call write_file on files, whose definition has changed')
    await ada.answer()
    await gate.answer(3)
    await gate.close()
    expect(gate.done()).toHaveLength(2)
  })

  test('is refused when the server does not list it', async () => {
    const gate = await startGate({ rules: factorsFor(ada.mobile, 'default: pass\n') })
    gate.call(1, 'drop_all')
    expect((await gate.answer(1)).result.content[0].text).toMatch(
      /^Not done\. The server does not list a tool called "drop_all"\. Tell the user\./,
    )
    gate.call(2, 'WRITE_FILE', write)
    expect((await gate.answer(2)).result.isError).toBe(true)
    expect(gate.raw().toString()).not.toContain('drop_all')
    await gate.close()
  })
})

describe('what the agent controls', () => {
  test('does not choose the service, the key or the approver: variables are not used', async () => {
    const env = {
      SVC_BASE_URL: 'http://127.0.0.1:9/x',
      SVC_API_KEY: 'svc_x',
      SVC_DEFAULT_MOBILE: '+12025550199',
    }
    const gate = await startGate({ env })
    expect(gate.log()).toContain(
      'SVC_BASE_URL, SVC_API_KEY, SVC_DEFAULT_MOBILE from the environment is not used',
    )
    gate.call(1, 'write_file', write)
    await ada.answer()
    await gate.answer(1)
    expect(gate.done()).toHaveLength(1)
    await gate.close()
  })

  test('is refused at the start if it is a key that can influence who approves', async () => {
    const file = await keyFile(['ask', 'people'], 'mighty.key')
    const starting = startGate({ flags: ['--base-url', service.baseUrl, '--key-file', file] })
    const gate = await starting.catch((error: Error) => error)
    const log = gate instanceof Error ? gate.message : (await gate.ended).stderr
    expect(log).toContain('The requesting key can influence who approves')
  })
})
