/** The languages of the page in their own names. Portuguese is that of Brazil. */
export const languages = {
  en: 'English',
  de: 'Deutsch',
  es: 'Español',
  fr: 'Français',
  pt: 'Português',
  ja: '日本語',
  ar: 'العربية',
} as const

export type Language = keyof typeof languages

export const isLanguage = (code: string | null | undefined): code is Language =>
  typeof code === 'string' && Object.hasOwn(languages, code)

const baseOf = (tag: string): string => tag.split('-', 1)[0]!.toLowerCase()

/** The first language of the browser that the page has. */
export const preferred = (tags: readonly string[]): Language => tags.map(baseOf).find(isLanguage) ?? 'en'

/** The tag for dates and numbers: the browser's, if it is of this language, because it names the region. */
export const regional = (language: Language, tags: readonly string[]): string =>
  tags.find((tag) => baseOf(tag) === language) ?? language

export const isRightToLeft = (language: Language): boolean => language === 'ar'

/** The file with the texts of a language. */
export const fileOf = (language: Language): string => `${language}.json`

/** The name of the note that tells the worker the language of the page. */
export const languageNote = 'language'
