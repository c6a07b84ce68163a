import { describe, expect, test } from 'vitest'
import { lookAlikeOf } from '../../src/core/look-alike.ts'

describe('names that can be mistaken for each other', () => {
  test.each([
    ['case', 'ada l'],
    ['spaces', ' Ada   L '],
    ['a space that has no width', 'Ada\u200b L'],
    ['full-width letters', 'Ａｄａ Ｌ'],
    ['mathematical letters', '𝐀𝐝𝐚 𝐋'],
    ['a Cyrillic letter', 'Аda L'],
    ['a Greek letter', 'Αda L'],
    ['a capital I for an L', 'Ada I'],
    ['a digit for an L', 'Ada 1'],
    ['an accent', 'Adá L'],
    ['punctuation', 'A.d.a-L.'],
  ])('are equal: %s', (_, name) => expect(lookAlikeOf(name)).toBe(lookAlikeOf('Ada L')))

  test.each([
    ['Straße', 'STRASSE'],
    ['Вова', 'BOBA'],
    ['🙂', '🙂'],
    ['Marnie', 'Mamie'],
    ['Vvanda', 'Wanda'],
  ])('%s and %s are equal', (one, other) => expect(lookAlikeOf(one)).toBe(lookAlikeOf(other)))

  test.each([
    ['Ada L', 'Ada B'],
    ['राम', 'रमा'],
    ['🙂', '🙃'],
  ])('%s and %s are not', (one, other) => expect(lookAlikeOf(one)).not.toBe(lookAlikeOf(other)))
})
