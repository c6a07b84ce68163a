type Hints = { getHighEntropyValues: (names: string[]) => Promise<{ model?: string }> }

const known: readonly (readonly [RegExp, string])[] = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android device'],
  [/Macintosh/, 'Mac'],
  [/Windows/, 'Windows computer'],
  [/CrOS/, 'Chromebook'],
  [/Linux/, 'Linux computer'],
]

/** A name for this device, such as "Pixel 9 of Ada". Never longer than the service accepts. */
export const suggestedName = async (firstName: string): Promise<string> => {
  const hints = (navigator as { userAgentData?: Hints }).userAgentData
  const model = (await hints?.getHighEntropyValues(['model']).catch(() => undefined))?.model
  const name = model || (known.find(([sign]) => sign.test(navigator.userAgent))?.[1] ?? 'Phone')
  return (firstName ? `${name} of ${firstName}` : name).slice(0, 60)
}
