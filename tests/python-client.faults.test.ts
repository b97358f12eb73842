import { mkdtempDisposableSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { generatePythonClient, PythonMissing, runPython } from './testing/python-client.ts'
import { sharedStack } from './testing/stack.ts'
import { newWorkspace } from './testing/workspaces.ts'

/* Among the fault tests, since pip takes half a minute to install the generator. */

interface Document {
  readonly components: { readonly schemas: Record<string, { readonly examples?: readonly { name: string }[] }> }
}

const stack = await sharedStack()
const { gateway } = stack.description()
const document = (await (await fetch(`${gateway}/openapi.json`)).json()) as Document

const PROGRAM = `
import json, sys
from client import AuthenticatedClient
from client.api.products import create_product, get_product
from client.models import Error, Product, ProductInput

origin, key, example = sys.argv[1:]
api = AuthenticatedClient(base_url=origin, token=key)
body = ProductInput.from_dict(json.loads(example))
created = create_product.sync(client=api, body=body, idempotency_key="from-python")
assert isinstance(created, Product), created
assert create_product.sync(client=api, body=body, idempotency_key="from-python") == created
refused = create_product.sync(client=api, body=body)
assert isinstance(refused, Error), refused
read = get_product.sync(created.id, client=api)
print(json.dumps({"read": read.to_dict(), "code": refused.error.code}))
`

it('the document is enough for openapi-python-client: its client creates and reads a product', async ({ skip }) => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'backoffice-python-'))
  try {
    await generatePythonClient(document, folder.path)
  } catch (error) {
    if (error instanceof PythonMissing) skip(error.message)
    throw error
  }
  const { key } = await newWorkspace(stack.description())
  const [example] = document.components.schemas.ProductInput?.examples ?? []
  const { read, code } = (await runPython(PROGRAM, [gateway, key, JSON.stringify(example)], folder.path)) as {
    read: { name: string; variants: unknown[] }
    code: string
  }
  expect(read).toMatchObject({
    name: example?.name,
    total_stock: 12,
    variants: [{ sku: 'LINEN-M' }, { sku: 'LINEN-L' }],
  })
  expect(code).toBe('conflict')
})
