/** Capitals of other scripts, 0 and the strokes that look alike, each behind what it is read as. */
const readAs = 'AАΑ BВΒ CС DԀ EЕΕ HНΗҺ ILІΙ1|ӏӀ JЈ KКΚ MМΜ NΝ OОΟ0 PРΡ QԚ SЅ TТΤ VѴ WԜ XХΧ YУΥҮ ZΖ'

const firsts = new Map(readAs.split(' ').flatMap((group) => [...group].map((char) => [char, group[0]!])))

/**
 * Equal for names that a reader can mistake for each other: case, accents, spaces, punctuation, compatibility forms and
 * letters of other scripts do not matter, nor does `rn` for `m` or `vv` for `w`. Only for warnings, because some different
 * names are equal here.
 */
export const lookAlikeOf = (name: string): string => {
  const letters = name.normalize('NFKD').replaceAll(/\p{sc=Inherited}|[^\p{L}\p{M}\p{N}|]/gu, '')
  return [...(letters || name).toUpperCase().normalize('NFKD')]
    .map((char) => firsts.get(char) ?? char)
    .join('')
    .replaceAll('RN', 'M')
    .replaceAll('VV', 'W')
}
