import { h, picture } from './element.ts'
import { problemLine } from './frame.ts'
import { chooseLanguage, currentLanguage } from './choice.ts'
import { languages, type Language } from '../language/languages.ts'
import { t } from '../language/text.ts'

/** The language of the page by its own name, to choose another one. `again` shows the same screen in it. */
export const languageChoice = (again: () => unknown): HTMLElement => {
  const problem = problemLine()
  const list = h(
    'select',
    { id: 'language', 'aria-label': t('language.title') },
    ...Object.entries(languages).map(([code, name]) =>
      h('option', { value: code, lang: code, selected: code === currentLanguage() }, name),
    ),
  )
  const choose = async (): Promise<void> => {
    if (!(await chooseLanguage(list.value as Language))) {
      list.value = currentLanguage()
      return problem.say(t('common.unreachable'))
    }
    await again()
    // Whoever has a keyboard may choose again, and sees where.
    document.getElementById(list.id)?.focus()
  }
  list.addEventListener('change', () => void choose())
  return h('div', {}, h('label', 'row picker', picture('globe'), list), problem.element)
}
