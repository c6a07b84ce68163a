// What kind of browser this is, for words and ways out. Nothing about security depends on it.

const agent = navigator.userAgent

/** iPadOS calls itself a Mac. */
const isPad = /iPad/.test(agent) || (/Macintosh/.test(agent) && navigator.maxTouchPoints > 1)

export const isAndroid = /Android/.test(agent)

/** A computer, not a phone or tablet. */
export const isComputer = !isPad && !isAndroid && !/iPhone|Mobile/.test(agent)

const isHomeScreenApp = (navigator as { standalone?: boolean }).standalone === true

/** Apps that open links in a window of their own, which forgets cookies and often has no WebAuthn. */
export const isInApp =
  /; wv\)|FBAN|FBAV|FB_IAB|Instagram|\bLine\/|MicroMessenger|LinkedInApp|Snapchat|TikTok|musical_ly|Slack/.test(
    agent,
  ) ||
  // Such a window on iOS does not call itself Safari; nor does a page on the home screen.
  (/iPhone|iPad/.test(agent) && !/Safari\//.test(agent) && !isHomeScreenApp)

type Hints = { getHighEntropyValues: (names: string[]) => Promise<{ model?: string }> }

/** What its maker calls it, such as "Pixel 9" or "iPhone"; undefined if the browser keeps that to itself. */
export const deviceModel = async (): Promise<string | undefined> => {
  if (isPad) return 'iPad'
  const known = ['iPhone', 'Macintosh', 'CrOS'].find((one) => agent.includes(one))
  if (known) return { iPhone: 'iPhone', Macintosh: 'Mac', CrOS: 'Chromebook' }[known]
  const hints = (navigator as { userAgentData?: Hints }).userAgentData
  return (await hints?.getHighEntropyValues(['model']).catch(() => undefined))?.model || undefined
}
