import type { Product } from '@backoffice/contracts/product.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { type Send, untilServed } from '@backoffice/testing/service-client.ts'

/** Creates a product, however many are created at once. Throws when it is refused. */
export async function createWith(send: Send, caller: Caller, product: unknown): Promise<Product> {
  const { status, body } = await untilServed(() => send<Product>(caller, 'POST', '/v1/products', product))
  if (status !== 201) throw new Error(`creating a product answered ${status} ${JSON.stringify(body)}`)
  return body
}
