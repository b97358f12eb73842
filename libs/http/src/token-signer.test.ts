import { aCaller, testTokenKey, testVerifier } from '@backoffice/testing/caller.ts'
import { expect, it } from 'vitest'
import { TokenSigner } from './token-signer.ts'

it('a signature that failed is made anew, and one that was made is used again', async () => {
  const keys = [testTokenKey.publicKey, testTokenKey.privateKey]
  const signer = new TokenSigner({
    issuer: 'gateway',
    keyId: testTokenKey.id,
    get privateKey() {
      return keys.shift() ?? testTokenKey.publicKey
    },
  })
  const [caller, now] = [aCaller(), new Date()]
  const sign = () => signer.forwarded(caller, 'catalog', now)
  await expect(sign()).rejects.toThrow()
  const token = await sign()
  expect(await testVerifier('catalog')(token, now)).toMatchObject({ caller: { workspaceId: caller.workspaceId } })
  expect(await sign()).toBe(token)
})
