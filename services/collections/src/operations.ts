import { checkImports } from '@backoffice/importing/check-imports.ts'
import { undoImports } from '@backoffice/importing/undo-imports.ts'
import type { FindCoverImage } from './collections/cover-image.ts'
import { createCollection } from './collections/create-collection.ts'
import { deleteCollection } from './collections/delete-collection.ts'
import { explainMembership } from './collections/explain-membership.ts'
import { getCollection } from './collections/get-collection.ts'
import { listCollections } from './collections/list-collections.ts'
import { previewRules } from './collections/preview-rules.ts'
import { updateCollection } from './collections/update-collection.ts'
import { importers } from './imports/importers.ts'
import { addProducts, type FindExistingProducts } from './members/add-products.ts'
import { listMembers } from './members/list-members.ts'
import { removeProducts } from './members/remove-products.ts'
import { reorderProducts } from './members/reorder-products.ts'

/** The service's API. */
export const operations = (findCoverImage: FindCoverImage, findExistingProducts: FindExistingProducts) => [
  listCollections,
  getCollection,
  createCollection(findCoverImage),
  previewRules(),
  explainMembership,
  updateCollection(findCoverImage),
  deleteCollection,
  listMembers,
  addProducts(findExistingProducts),
  reorderProducts,
  removeProducts,
  checkImports(importers),
  undoImports(importers),
]
