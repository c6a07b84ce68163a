import { claimsShape, type Receipt, type ReceiptClaims } from './claims.ts'
import { checkAlone, checkHuman } from './human.ts'
import { checkSignature, type Note } from './signature.ts'

/**
 * The claims of a stored receipt, if the service signed it and a person signed the decision in it; otherwise undefined.
 * Whether the receipt is enough is the caller's decision. Never throws, whatever the text.
 */
export const verifyApproval = async (
  receipt: string | null,
  jwks: unknown,
): Promise<ReceiptClaims | undefined> => {
  let isGenuine = true
  const note: Note = (name, ok) => {
    // A clock that was set back does not make a receipt false.
    isGenuine &&= ok || name === 'time'
    return ok
  }
  try {
    const { jws } = JSON.parse(receipt ?? '') as Receipt
    const claims = claimsShape.parse((await checkSignature(jws, jwks, note))?.payload)
    if (!(await checkHuman(claims, note))) return undefined
    checkAlone(claims, note)
    return isGenuine ? claims : undefined
  } catch {
    return undefined
  }
}
