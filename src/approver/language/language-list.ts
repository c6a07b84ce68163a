import { button, h } from '../shell/element.ts'
import { problemLine, show } from '../shell/frame.ts'
import { chooseLanguage, currentLanguage } from './choice.ts'
import { languages, type Language } from './languages.ts'
import { t } from './text.ts'

/** The languages of the page in their own names. A tap switches to one and goes back. */
export const showLanguages = (back: () => void): void => {
  const problem = problemLine()
  const choose = async (language: Language): Promise<void> => {
    if (await chooseLanguage(language)) back()
    else problem.say(t('common.unreachable'))
  }
  const row = ([code, name]: readonly [string, string]): HTMLElement => {
    const isCurrent = code === currentLanguage()
    const properties = { lang: code, dir: 'auto', ...(isCurrent && { 'aria-current': 'true' }) }
    return h(
      'li',
      {},
      button(name, 'plain', () => choose(code as Language), properties),
    )
  }
  show(
    t('language.title'),
    h('a', { class: 'back', href: '#' }, t('common.allRequests')),
    h('h1', {}, t('language.title')),
    problem.element,
    h('ul', { class: 'cards languages' }, ...Object.entries(languages).map(row)),
  )
}
