import { h, picture } from './element.ts'
import { problemLine } from './frame.ts'
import { keep, readKept } from '../calls/kept.ts'
import { leaveNote } from '../calls/worker-note.ts'
import {
  fileOf,
  isLanguage,
  isRightToLeft,
  languageNote,
  languages,
  preferred,
  regional,
  type Language,
} from '../language/languages.ts'
import type { Catalogue } from '../language/message.ts'
import { speak, t } from '../language/text.ts'

const kept = 'svc-language'
const patienceMs = 5000

let current: Language = 'en'

/** What the person chose on this page. */
const chosen = (): Language | undefined => {
  const code = readKept(kept)
  return isLanguage(code) ? code : undefined
}

/** The texts of a language; undefined if they cannot be loaded. */
const textsOf = async (language: Language): Promise<Catalogue | undefined> => {
  try {
    const signal = AbortSignal.timeout(patienceMs)
    const response = await fetch(`/approver/${fileOf(language)}?v=PAGE_VERSION`, { signal })
    return response.ok ? ((await response.json()) as Catalogue) : undefined
  } catch {
    return undefined
  }
}

/** Switches the page to a language. Returns false if its texts cannot be loaded. */
const switchTo = async (language: Language): Promise<boolean> => {
  const texts = await textsOf(language)
  if (!texts) return false
  const before = t('common.title')
  current = language
  speak(texts, { language: regional(language, navigator.languages), isRightToLeft: isRightToLeft(language) })
  const { documentElement: page } = document
  page.lang = language === 'pt' ? 'pt-BR' : language
  page.dir = isRightToLeft(language) ? 'rtl' : 'ltr'
  const title = t('common.title')
  document.querySelector('meta[name="apple-mobile-web-app-title"]')?.setAttribute('content', title)
  document
    .querySelector('link[rel="manifest"]')
    ?.setAttribute('href', `/approver/${language === 'en' ? 'manifest' : language}.webmanifest`)
  // Until an organization is known.
  const name = document.getElementById('organization')
  if (name?.textContent === before) name.textContent = title
  void leaveNote(languageNote, language)
  return true
}

/** At the start of the page, before its first screen: the choice of the person, or else of the browser. */
export const loadLanguage = async (): Promise<void> => {
  const wanted = chosen() ?? preferred(navigator.languages)
  // Until there are texts, only the document itself can say why nothing is there.
  const notice = document.getElementById('offline')!
  while (!((await switchTo(wanted)) || (await switchTo('en')))) {
    notice.hidden = false
    await new Promise((resolve) => setTimeout(resolve, 2000))
  }
  notice.replaceChildren()
  notice.hidden = false
}

/** The language of the page by its own name, to choose another one. `again` shows the same screen in it. */
export const languageChoice = (again: () => unknown): HTMLElement => {
  const problem = problemLine()
  const list = h(
    'select',
    { id: 'language', 'aria-label': t('language.title') },
    ...Object.entries(languages).map(([code, name]) =>
      h('option', { value: code, lang: code, selected: code === current }, name),
    ),
  )
  const choose = async (): Promise<void> => {
    const language = list.value as Language
    if (!(await switchTo(language))) {
      list.value = current
      return problem.say(t('common.unreachable'))
    }
    keep(kept, language)
    await again()
    // Whoever has a keyboard may choose again, and sees where.
    document.getElementById(list.id)?.focus()
  }
  list.addEventListener('change', () => void choose())
  return h('div', {}, h('label', 'row picker', picture('globe'), list), problem.element)
}
