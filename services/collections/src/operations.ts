import type { InternalCalls } from '@backoffice/http/internal-calls.ts'
import { checkImports } from '@backoffice/importing/check-imports.ts'
import { undoImports } from '@backoffice/importing/undo-imports.ts'
import { createCollection } from './collections/create-collection.ts'
import { deleteCollection } from './collections/delete-collection.ts'
import { explainMembership } from './collections/explain-membership.ts'
import { getAnyCollection } from './collections/get-any-collection.ts'
import { getCollection } from './collections/get-collection.ts'
import { listAllCollections } from './collections/list-all-collections.ts'
import { listCollections } from './collections/list-collections.ts'
import { previewRules } from './collections/preview-rules.ts'
import { updateCollection } from './collections/update-collection.ts'
import { importers } from './imports/importers.ts'
import { addProducts } from './members/add-products.ts'
import { listMembers, listMembersOfAny } from './members/list-members.ts'
import { removeProducts } from './members/remove-products.ts'
import { reorderProducts } from './members/reorder-products.ts'

/** The service's API. */
export const operations = (catalog: InternalCalls) => [
  listCollections,
  getCollection,
  createCollection(catalog),
  previewRules(),
  explainMembership,
  updateCollection(catalog),
  deleteCollection,
  listMembers,
  listAllCollections,
  getAnyCollection,
  listMembersOfAny,
  addProducts(catalog),
  reorderProducts,
  removeProducts,
  checkImports(importers),
  undoImports(importers),
]
