import { checkImports } from '@backoffice/importing/check-imports.ts'
import { undoImports } from '@backoffice/importing/undo-imports.ts'
import { readLimits, storedBytesLimit } from '@backoffice/service/read-limits.ts'
import { readStoredBytes } from '@backoffice/service/read-stored-bytes.ts'
import { readAsset } from './assets/read-asset.ts'
import { type AssetUploading, uploadAsset } from './assets/upload-asset.ts'
import { createCategory } from './categories/create-category.ts'
import { deleteCategory } from './categories/delete-category.ts'
import { listCategories } from './categories/list-categories.ts'
import { updateCategory } from './categories/update-category.ts'
import { countImages } from './images/count-images.ts'
import { batchProducts } from './imports/batch-products.ts'
import { batchStock } from './imports/batch-stock.ts'
import { importers } from './imports/importers.ts'
import { createProduct } from './products/create-product.ts'
import { deleteProduct } from './products/delete-product.ts'
import { findExistingProducts } from './products/find-existing-products.ts'
import { getProduct } from './products/get-product.ts'
import { getProductSettings } from './products/get-product-settings.ts'
import { listProducts } from './products/list-products.ts'
import { updateProduct } from './products/update-product.ts'
import { releaseStock } from './stock/release-stock.ts'
import { returnStock } from './stock/return-stock.ts'
import { takeStock } from './stock/take-stock.ts'
import { deleteTag } from './tags/delete-tag.ts'
import { listTags } from './tags/list-tags.ts'
import { createVariant } from './variants/create-variant.ts'
import { deleteVariant } from './variants/delete-variant.ts'
import { readVariants } from './variants/read-variants.ts'
import { updateVariant } from './variants/update-variant.ts'

/** The service's API. */
export const operations = (uploading: AssetUploading) => [
  createProduct,
  getProduct,
  getProductSettings,
  listProducts,
  updateProduct,
  deleteProduct,
  findExistingProducts,
  batchProducts,
  batchStock,
  createVariant,
  updateVariant,
  deleteVariant,
  readVariants,
  listCategories,
  createCategory,
  updateCategory,
  deleteCategory,
  listTags,
  deleteTag,
  uploadAsset(uploading),
  readAsset,
  readStoredBytes,
  readLimits(storedBytesLimit('asset_bytes', uploading.storedBytes)),
  takeStock,
  releaseStock,
  returnStock,
  checkImports(importers),
  undoImports(importers),
  countImages,
]
