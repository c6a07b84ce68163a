import type { Key } from 'node:readline'
import { escaped, interrupted } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Io } from './io.ts'
import { LineInput } from './line-input.ts'
import { maskProse } from './mask-prose.ts'
import { fitted, wrap } from './wrap.ts'

/** A value and the text that the person reads. */
export type Choice = { value: string; name: string }

type Validate = (value: string) => true | string | Promise<true | string>

export type Prompt = {
  /** `only`: the answer of Enter alone. */
  text(question: string, options?: { example?: string; only?: string; validate?: Validate }): Promise<string>
  /** Not echoed. */
  secret(question: string, options?: { validate?: Validate }): Promise<string>
  /** Default No. */
  confirm(question: string): Promise<boolean>
  select(question: string, choices: readonly string[]): Promise<string>
  /** Selects one or more choices. */
  tick(question: string, choices: readonly Choice[]): Promise<string[]>
  /** Like `select`, but returns undefined and clears the prompt if `signal` aborts because the choices have changed. */
  selectUntil(question: string, choices: readonly Choice[], signal: AbortSignal): Promise<string | undefined>
}

type Streams = { input: NodeJS.ReadableStream; output: NodeJS.WritableStream }
type Asking = Streams & { signal: AbortSignal }
type Question<T> = (prompts: typeof import('@inquirer/prompts'), context: Asking) => Promise<T>

/** Prompts on stderr, so that stdout contains only the payload. Ctrl-C, Ctrl-D and Esc end the command. */
export const createPrompt = (
  io: Io,
  streams: Streams = { input: process.stdin, output: process.stderr },
): Prompt => {
  /** Foreign text on as many lines as it needs, because Inquirer breaks words. Leaves room for the mark before it, and for y/N. */
  const fold = (text: string): string =>
    wrap(safeLine(text), Math.max(20, io.stderr.columns - 9)).join('\n  ')
  /** A choice, and what the terminal shows of it once it is chosen: below the question if it has no room beside it. */
  const option = (question: string, { value, name }: Choice) => {
    const fits = question.length + name.length + 9 < io.stderr.columns
    return { value, name: fold(name), short: fits ? safeLine(name) : `\n  ${fold(name)}` }
  }

  /** One attempt; undefined if several lines were pasted, which answer nothing. */
  const tryOnce = async <T>(question: Question<T>, isSecret: boolean): Promise<{ answer: T } | undefined> => {
    const prompts = await import('@inquirer/prompts')
    // Inquirer waits forever if its input ends, and does not handle Esc.
    const leave = new AbortController()
    let several: string | undefined
    const input = new LineInput(streams.input, (text) => {
      several = text
      leave.abort()
    })
    let isEscape = false
    const onKey = (_: string, key: Key | undefined): void => {
      isEscape = key?.name === 'escape'
      if (isEscape || (key?.ctrl && key.name === 'd')) leave.abort()
    }
    const onEnd = (): void => leave.abort()
    input.on('keypress', onKey).once('end', onEnd)
    try {
      const signal = AbortSignal.any([io.signal, leave.signal])
      return { answer: await question(prompts, { input, output: streams.output, signal }) }
    } catch (error) {
      if (!(error instanceof Error) || !['ExitPromptError', 'AbortPromptError'].includes(error.name))
        throw error
      if (several === undefined || io.signal.aborted) throw isEscape ? escaped() : interrupted()
      await input.pasted()
      const shown = isSecret ? '' : `: ${safeLine(JSON.stringify(maskProse(several.slice(0, 120))))}`
      const note = `That was more than one line, so it answers nothing${shown}.\nEnter one line.`
      streams.output.write(`\n${fitted(note, io.stderr)}\n`)
      return undefined
    } finally {
      input.close()
    }
  }

  const ask = async <T>(question: Question<T>, isSecret = false): Promise<T> => {
    for (;;) {
      const asked = await tryOnce(question, isSecret)
      if (asked) return asked.answer
    }
  }

  return {
    text: (question, { example, only, validate } = {}) => {
      const message = fold(question + (example === undefined ? '' : ` (such as ${example})`))
      const more = { ...(only !== undefined && { default: only }), ...(validate && { validate }) }
      return ask(({ input }, context) => input({ message, ...more }, context))
    },
    secret: (question, { validate } = {}) => {
      const hidden = { message: fold(question), mask: false, toggleMask: false } as const
      return ask(
        ({ password }, context) => password({ ...hidden, ...(validate && { validate }) }, context),
        true,
      )
    },
    confirm: (question) =>
      ask(({ confirm }, context) => confirm({ message: fold(question), default: false }, context)),
    select: (question, choices) => {
      const options = choices.map((value) => option(question, { value, name: value }))
      return ask(({ select }, context) => select({ message: fold(question), choices: options }, context))
    },
    tick: (question, choices) => {
      const options = choices.map(({ value, name }) => ({ value, name: fold(name), short: value }))
      // In lines, of which a long option takes two on a narrow terminal.
      const all = { choices: options, required: true, pageSize: 2 * options.length }
      return ask(({ checkbox }, context) => checkbox({ message: fold(question), ...all }, context))
    },
    selectUntil: async (question, choices, stale) => {
      const options = choices.map((choice) => option(question, choice))
      try {
        return await ask(({ select }, context) =>
          select(
            { message: fold(question), choices: options },
            { ...context, signal: AbortSignal.any([context.signal, stale]), clearPromptOnDone: true },
          ),
        )
      } catch (error) {
        if (stale.aborted && !io.signal.aborted) return undefined
        throw error
      }
    },
  }
}
