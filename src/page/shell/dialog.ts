import { type Child, h } from './element.ts'

/** Shows a dialog above the page. Settles when it is closed, also because what needed it is left. */
export const showDialog = (title: string, draw: (close: () => void) => Child[]): Promise<void> =>
  new Promise((resolve) => {
    const close = (): void => dialog.close()
    const dialog = h(
      'dialog',
      { 'aria-labelledby': 'dialog' },
      h('h2', { id: 'dialog' }, title),
      ...draw(() => close()),
    )
    dialog.addEventListener('close', () => {
      removeEventListener('hashchange', close)
      dialog.remove()
      resolve()
    })
    addEventListener('hashchange', close)
    document.body.append(dialog)
    dialog.showModal()
  })
