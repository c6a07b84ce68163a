/** Whether the value of a field, a parameter or a variable of this name must not be shown. */
export const looksSecret = (name: string): boolean => /secret|password|token|otp|key|credential/i.test(name)
