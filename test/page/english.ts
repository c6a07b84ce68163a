import type { Message } from '../../src/page/language/message.ts'

type Messages = Record<string, Record<string, Message>>
const build = new URL('../../scripts/messages.mjs', import.meta.url).href
const { compileLanguage, numberedKeys } = (await import(build)) as {
  compileLanguage(language: string): Messages
  numberedKeys(): string[]
}

/** The texts of a language by screen and key, as the build compiles them. */
export const textsIn = compileLanguage
export const english = compileLanguage('en')
export const keys = numberedKeys()
