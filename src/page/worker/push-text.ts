import { readNote } from '../calls/worker-note.ts'
import { push as english } from '../language/english.ts'
import {
  fileOf,
  isLanguage,
  languageNote,
  preferred,
  regional,
  type Language,
} from '../language/languages.ts'
import { fill, type Catalogue } from '../language/message.ts'

/** The language of the page, or of the browser if the page could not leave it here. */
export const pageLanguage = async (): Promise<Language> => {
  const noted = await readNote(languageNote)
  return isLanguage(noted) ? noted : preferred(navigator.languages)
}

type Texts = (key: keyof typeof english, values?: Record<string, string>) => string

/**
 * The texts of notifications in the language of the page, or in English if its file is not cached: a notification must not
 * wait for the network.
 */
export const pushTexts = async (pathOf: (file: string) => string): Promise<Texts> => {
  const language = await pageLanguage()
  const tag = regional(language, navigator.languages)
  let texts: Catalogue | undefined
  try {
    texts = (await (await caches.match(pathOf(fileOf(language))))?.json()) as Catalogue | undefined
  } catch {
    // English, then.
  }
  return (key, values = {}) =>
    fill(texts?.[1].push?.[key] ?? english[key], values, tag, (value) => value).join('')
}
