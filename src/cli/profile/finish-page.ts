import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'

// The page on which a sign-in with a browser ends. The command serves it, so it has none of the files of the approver page: only
// its languages and its look.

/** How it went, and what to do now. */
export const texts = {
  en: {
    signedIn: ['You’re signed in', 'You can close this page and go back to the terminal.'],
    refused: ['Not signed in', 'Nothing was saved. Go back to the terminal.'],
    nothing: ['Nothing here', 'This page belongs to a terminal that is signing in.'],
  },
  de: {
    signedIn: ['Sie sind angemeldet', 'Sie können diese Seite schließen und zum Terminal zurückkehren.'],
    refused: ['Nicht angemeldet', 'Nichts wurde gespeichert. Kehren Sie zum Terminal zurück.'],
    nothing: ['Hier ist nichts', 'Diese Seite gehört zu einem Terminal, das sich anmeldet.'],
  },
  es: {
    signedIn: ['Ha iniciado sesión', 'Puede cerrar esta página y volver al terminal.'],
    refused: ['No se inició sesión', 'No se guardó nada. Vuelva al terminal.'],
    nothing: ['Aquí no hay nada', 'Esta página pertenece a un terminal que está iniciando sesión.'],
  },
  fr: {
    signedIn: ['Vous êtes connecté', 'Vous pouvez fermer cette page et retourner au terminal.'],
    refused: ['Non connecté', 'Rien n’a été enregistré. Retournez au terminal.'],
    nothing: ['Rien ici', 'Cette page appartient à un terminal qui se connecte.'],
  },
  pt: {
    signedIn: ['Você entrou', 'Você pode fechar esta página e voltar ao terminal.'],
    refused: ['Você não entrou', 'Nada foi salvo. Volte ao terminal.'],
    nothing: ['Não há nada aqui', 'Esta página pertence a um terminal que está entrando.'],
  },
  ja: {
    signedIn: ['サインインしました', 'このページを閉じて、端末に戻ってください。'],
    refused: ['サインインしていません', '何も保存されていません。端末に戻ってください。'],
    nothing: ['何もありません', 'このページは、サインイン中の端末のものです。'],
  },
  ar: {
    signedIn: ['تم تسجيل دخولك', 'يمكنك إغلاق هذه الصفحة والعودة إلى الطرفية.'],
    refused: ['لم يتم تسجيل الدخول', 'لم يُحفظ شيء. عُد إلى الطرفية.'],
    nothing: ['لا شيء هنا', 'هذه الصفحة تابعة لطرفية تسجّل الدخول.'],
  },
} as const

type Language = keyof typeof texts
export type Outcome = keyof (typeof texts)['en']

const isLanguage = (code: string): code is Language => Object.hasOwn(texts, code)

/** The first language of the browser that there is. Browsers send them in order. */
const languageOf = (accepted = ''): Language =>
  accepted
    .split(',')
    .map((tag) => tag.trim().split(/[-;]/, 1)[0]!.toLowerCase())
    .find(isLanguage) ?? 'en'

const style = `
:root { color-scheme: light dark; --ground: #f4f5f4; --ink: #17201e; --soft: #53605c; --good: #0f6b5c; --bad: #b3261e }
@media (prefers-color-scheme: dark) {
  :root { --ground: #101413; --ink: #eaefed; --soft: #a9b5b1; --good: #6fd0bc; --bad: #ffb3ab }
}
body {
  display: grid; min-height: 100vh; margin: 0; place-content: center; padding: 1.25rem; box-sizing: border-box;
  grid-template-columns: minmax(0, max-content); overflow-wrap: anywhere; hyphens: auto;
  background: var(--ground); color: var(--ink); font: 1.0625rem/1.5 system-ui, sans-serif; text-align: center
}
svg { width: 4rem; margin: 0 auto; fill: none; stroke: var(--good); stroke-width: 4; stroke-linecap: round; stroke-linejoin: round }
.refused svg { stroke: var(--bad) }
h1 { outline: none; margin: 1rem 0 .25rem; font-size: 1.5rem; line-height: 1.25 }
p { margin: 0; color: var(--soft) }
`

const drawings: Record<Outcome, string> = {
  signedIn: '<circle cx="32" cy="32" r="28"/><path d="M20 33l8 8 16-17"/>',
  refused: '<circle cx="32" cy="32" r="28"/><path d="M22 22l20 20M42 22L22 42"/>',
  nothing: '',
}

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
  // The address has the code.
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  connection: 'close',
}

/** Answers a browser with how the sign-in ended, in its language. */
export const answerFinish = (
  response: ServerResponse,
  outcome: Outcome,
  accepted: string | undefined,
  done?: () => void,
): void => {
  const language = languageOf(accepted)
  const [title, advice] = texts[language][outcome]
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title} – svc</title><style>${style}</style>`
  const drawing =
    drawings[outcome] && `<svg viewBox="0 0 64 64" aria-hidden="true">${drawings[outcome]}</svg>`
  response.writeHead(outcome === 'nothing' ? 404 : 200, headers)
  response.end(
    `<!doctype html><html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}"><head>${head}</head><body class="${outcome}"><main>${drawing}<h1 tabindex="-1" autofocus>${title}</h1><p>${advice}</p></main></body></html>\n`,
    done,
  )
}
