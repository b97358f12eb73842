/* The types of the API, made from its OpenAPI document by `npm run generate:api`. Do not edit. */

export interface paths {
    "/v1/products": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List products
         * @description Needs the scope `product::read`.
         */
        get: operations["listProducts"];
        put?: never;
        /**
         * Create a product
         * @description Needs the scope `product::create`.
         */
        post: operations["createProduct"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/products/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a product
         * @description Needs the scope `product::read`.
         */
        get: operations["getProduct"];
        /**
         * Update a product
         * @description Needs the scope `product::update`.
         */
        put: operations["updateProduct"];
        post?: never;
        /**
         * Delete a product
         * @description Needs the scope `product::delete`.
         */
        delete: operations["deleteProduct"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/products/{id}/variants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add a variant to a variable product
         * @description Needs the scope `product::create`.
         */
        post: operations["createVariant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/products/{id}/variants/{variant_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Update a variant of a variable product
         * @description Needs the scope `product::update`.
         */
        put: operations["updateVariant"];
        post?: never;
        /**
         * Delete a variant of a variable product
         * @description Needs the scope `product::delete`.
         */
        delete: operations["deleteVariant"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/categories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List categories
         * @description Needs the scope `product::read`.
         */
        get: operations["listCategories"];
        put?: never;
        /**
         * Create a category
         * @description Needs the scope `product::create`.
         */
        post: operations["createCategory"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/categories/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Update a category
         * @description Needs the scope `product::update`.
         */
        put: operations["updateCategory"];
        post?: never;
        /**
         * Delete a category
         * @description Needs the scope `product::delete`.
         */
        delete: operations["deleteCategory"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tags
         * @description Needs the scope `product::read`.
         */
        get: operations["listTags"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tags/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a tag
         * @description Needs the scope `product::delete`.
         */
        delete: operations["deleteTag"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/assets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Upload an image or another file
         * @description Needs the scope `product::create`.
         */
        post: operations["uploadAsset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/collections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List collections
         * @description Needs the scope `product::read`.
         */
        get: operations["listCollections"];
        put?: never;
        /**
         * Create a collection
         * @description Needs the scope `product::create`.
         */
        post: operations["createCollection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/collections/{handle}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a collection
         * @description Needs the scope `product::read`.
         */
        get: operations["getCollection"];
        /**
         * Update a collection
         * @description Needs the scope `product::update`.
         */
        put: operations["updateCollection"];
        post?: never;
        /**
         * Delete a collection
         * @description Needs the scope `product::delete`.
         */
        delete: operations["deleteCollection"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/collections/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview the products that rules gather
         * @description Needs the scope `product::create`.
         */
        post: operations["previewCollectionRules"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/collections/{handle}/products/{product_id}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain why a product is in a SMART collection or not
         * @description Needs the scope `product::update`.
         */
        get: operations["explainCollectionMembership"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/collections/{handle}/products": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the products of a collection
         * @description Needs the scope `product::read`.
         */
        get: operations["listCollectionProducts"];
        put?: never;
        /**
         * Add products to a collection
         * @description Needs the scope `product::create`.
         */
        post: operations["addProductsToCollection"];
        /**
         * Remove products from a collection
         * @description Needs the scope `product::delete`.
         */
        delete: operations["removeProductsFromCollection"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/collections/{handle}/products/order": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set the positions of products in a collection
         * @description Needs the scope `product::update`.
         */
        put: operations["reorderCollectionProducts"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/customers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List customers
         * @description Needs the scope `customer::read`.
         */
        get: operations["listCustomers"];
        put?: never;
        /**
         * Create a customer
         * @description Needs the scope `customer::create`.
         */
        post: operations["createCustomer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/customers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a customer
         * @description Needs the scope `customer::read`.
         */
        get: operations["getCustomer"];
        /**
         * Update a customer
         * @description Needs the scope `customer::update`.
         */
        put: operations["updateCustomer"];
        post?: never;
        /**
         * Erase a customer
         * @description Needs the scope `customer::delete`.
         */
        delete: operations["deleteCustomer"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List orders
         * @description Needs the scope `sale::read`.
         */
        get: operations["listOrders"];
        put?: never;
        /**
         * Create an order
         * @description Needs the scope `sale::create`.
         */
        post: operations["createOrder"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orders/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an order
         * @description Needs the scope `sale::read`.
         */
        get: operations["getOrder"];
        /**
         * Update an order, or move it to another status
         * @description Needs the scope `sale::update`.
         */
        put: operations["updateOrder"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orders/form": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the workspace's order form
         * @description Needs the scope `sale::read`.
         */
        get: operations["getOrderFormSchema"];
        /**
         * Replace the workspace's order form
         * @description Needs the scope `sale::update`.
         */
        put: operations["updateOrderFormSchema"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orders/{id}/form": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an order's form as it was submitted
         * @description Needs the scope `sale::read`.
         */
        get: operations["getSubmittedOrderForm"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orders/{id}/payments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the payments of an order
         * @description Needs the scope `sale::read`.
         */
        get: operations["listOrderPayments"];
        put?: never;
        /**
         * Record a payment of an order
         * @description Needs the scope `sale::create`.
         */
        post: operations["recordOrderPayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orders/{id}/checkout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start a checkout of an order with an installed app
         * @description Needs the scope `sale::create`.
         */
        post: operations["createOrderCheckout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orders/{id}/invoices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the invoices of an order
         * @description Needs the scope `sale::read`.
         */
        get: operations["listOrderInvoices"];
        put?: never;
        /**
         * Issue the invoice of an order
         * @description Needs the scope `sale::create`.
         */
        post: operations["createOrderInvoice"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/orders/{id}/fulfillments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the fulfilments of an order
         * @description Needs the scope `sale::read`.
         */
        get: operations["listOrderFulfillments"];
        put?: never;
        /**
         * Fulfil items of an order
         * @description Needs the scope `sale::create`.
         */
        post: operations["createOrderFulfillment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/imports/templates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the import templates
         * @description Needs the scope `import::read`.
         */
        get: operations["listImportTemplates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/imports/templates/{key}.csv": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download an import template with an example row
         * @description Needs the scope `import::read`.
         */
        get: operations["getImportTemplateFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/imports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List imports
         * @description Needs the scope `import::read`.
         */
        get: operations["listImports"];
        put?: never;
        /**
         * Upload a CSV file and validate it
         * @description Needs the scope `import::create`.
         */
        post: operations["uploadImport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/imports/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an import
         * @description Needs the scope `import::read`.
         */
        get: operations["getImport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/imports/{id}/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Apply a validated import
         * @description Needs the scope `import::create`.
         */
        post: operations["startImport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/imports/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel an import
         * @description Needs the scope `import::create`.
         */
        post: operations["cancelImport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/imports/{id}/progress": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow an import as server-sent events
         * @description Needs the scope `import::read`.
         */
        get: operations["followImport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/imports/{id}/errors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the validation report of an import
         * @description Needs the scope `import::read`.
         */
        get: operations["getImportReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/imports/{id}/errors.csv": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download all errors of an import
         * @description Needs the scope `import::read`.
         */
        get: operations["getImportErrorsFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/imports/{id}/corrected.csv": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download the bad rows of an import, to correct and upload them
         * @description Needs the scope `import::read`.
         */
        get: operations["getImportCorrectedFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/imports/{id}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show what applying an import would create, update and leave as it is
         * @description Needs the scope `import::read`.
         */
        get: operations["getImportDiff"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/imports/{id}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the undo of an import
         * @description Needs the scope `import::read`.
         */
        get: operations["getImportUndo"];
        put?: never;
        /**
         * Undo an import
         * @description Needs the scope `import::create`.
         */
        post: operations["undoImport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/apps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the apps of the workspace
         * @description Needs the scope `app::read`.
         */
        get: operations["listApps"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/apps/{provider}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an app of the workspace
         * @description Needs the scope `app::read`.
         */
        get: operations["getApp"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhook endpoints
         * @description Needs the scope `webhook::read`.
         */
        get: operations["listWebhookEndpoints"];
        put?: never;
        /**
         * Create a webhook endpoint
         * @description Needs the scope `webhook::create`.
         */
        post: operations["createWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a webhook endpoint
         * @description Needs the scope `webhook::read`.
         */
        get: operations["getWebhookEndpoint"];
        /**
         * Update a webhook endpoint
         * @description Needs the scope `webhook::update`.
         */
        put: operations["updateWebhookEndpoint"];
        post?: never;
        /**
         * Delete a webhook endpoint
         * @description Needs the scope `webhook::delete`.
         */
        delete: operations["deleteWebhookEndpoint"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/secret/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the signing secret of a webhook endpoint
         * @description Needs the scope `webhook::create`.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/ping": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a webhook.ping event to a webhook endpoint
         * @description Needs the scope `webhook::create`.
         */
        post: operations["pingWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/recover": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send again what failed since some time
         * @description Needs the scope `webhook::create`.
         */
        post: operations["recoverWebhookDeliveries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/event-types": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the event names that endpoints can subscribe to
         * @description Needs the scope `webhook::read`.
         */
        get: operations["listWebhookEventTypes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the deliveries of a webhook endpoint
         * @description Needs the scope `webhook::read`.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/deliveries/{delivery_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Inspect a delivery
         * @description Needs the scope `webhook::read`.
         */
        get: operations["getWebhookDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/deliveries/{delivery_id}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a delivery again
         * @description Needs the scope `webhook::create`.
         */
        post: operations["resendWebhookDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "product.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Product created */
        post: operations["onProductCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "product.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Product updated */
        post: operations["onProductUpdated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "product.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Product deleted */
        post: operations["onProductDeleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "collection.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Collection created */
        post: operations["onCollectionCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "collection.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Collection updated */
        post: operations["onCollectionUpdated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "collection.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Collection deleted */
        post: operations["onCollectionDeleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "category.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Category created */
        post: operations["onCategoryCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "category.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Category updated */
        post: operations["onCategoryUpdated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "category.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Category deleted */
        post: operations["onCategoryDeleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "tag.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Tag created */
        post: operations["onTagCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "tag.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Tag deleted */
        post: operations["onTagDeleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "bundle.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Bundle updated */
        post: operations["onBundleUpdated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "customer.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Customer created */
        post: operations["onCustomerCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "customer.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Customer updated */
        post: operations["onCustomerUpdated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "order.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Order created */
        post: operations["onOrderCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "order.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Order updated */
        post: operations["onOrderUpdated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "order.paid": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Order paid */
        post: operations["onOrderPaid"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "invoice.paid": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Invoice paid */
        post: operations["onInvoicePaid"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "fulfillment.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Fulfillment created */
        post: operations["onFulfillmentCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "component.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Component created */
        post: operations["onComponentCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "component.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Component updated */
        post: operations["onComponentUpdated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "component.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Component deleted */
        post: operations["onComponentDeleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "supplier.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Supplier created */
        post: operations["onSupplierCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "supplier.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Supplier updated */
        post: operations["onSupplierUpdated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "supplier.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Supplier deleted */
        post: operations["onSupplierDeleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "expense.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Expense created */
        post: operations["onExpenseCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "expense.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Expense updated */
        post: operations["onExpenseUpdated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "expense.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Expense deleted */
        post: operations["onExpenseDeleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment_milestone_template.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Payment milestone template created */
        post: operations["onPaymentMilestoneTemplateCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment_milestone_template.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Payment milestone template updated */
        post: operations["onPaymentMilestoneTemplateUpdated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment_milestone_template.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Payment milestone template deleted */
        post: operations["onPaymentMilestoneTemplateDeleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "stock_count.closed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stock count closed */
        post: operations["onStockCountClosed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "stock_pool.adjusted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stock pool adjusted */
        post: operations["onStockPoolAdjusted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "assistant_task.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Assistant task created */
        post: operations["onAssistantTaskCreated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "assistant_task.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Assistant task updated */
        post: operations["onAssistantTaskUpdated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "import.completed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Import completed */
        post: operations["onImportCompleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "webhook.ping": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Webhook ping */
        post: operations["onWebhookPing"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /**
         * @example {
         *       "error": {
         *         "code": "unprocessable",
         *         "message": "variants[1].sku: is required",
         *         "request_id": "9b2d7e34-5c1f-4a86-b0d3-6e8f1a2c4d5e"
         *       }
         *     }
         */
        Error: {
            error: {
                /** @enum {string} */
                code: "bad_request" | "invalid_api_key" | "insufficient_scope" | "not_found" | "method_not_allowed" | "conflict" | "payload_too_large" | "unsupported_media_type" | "unprocessable" | "rate_limited" | "internal_error" | "service_unavailable" | "gateway_timeout";
                message: string;
                request_id: string;
            };
        };
        /**
         * @example {
         *       "name": "Linen shirt",
         *       "type": "VARIABLE_PRODUCT",
         *       "status": "ACTIVE",
         *       "description": "Loose fit",
         *       "tags": [
         *         "Summer"
         *       ],
         *       "options": [
         *         {
         *           "name": "Size",
         *           "values": [
         *             "M",
         *             "L"
         *           ]
         *         }
         *       ],
         *       "variants": [
         *         {
         *           "sku": "LINEN-M",
         *           "attributes": {
         *             "Size": "M"
         *           },
         *           "price": {
         *             "EUR": 4900
         *           },
         *           "stock": 5
         *         },
         *         {
         *           "sku": "LINEN-L",
         *           "attributes": {
         *             "Size": "L"
         *           },
         *           "price": {
         *             "EUR": 5400
         *           },
         *           "stock": 7
         *         }
         *       ]
         *     }
         */
        ProductInput: {
            name: string;
            /** @enum {string} */
            type: "SIMPLE_PRODUCT" | "VARIABLE_PRODUCT" | "VIRTUAL_PRODUCT";
            /** @enum {string} */
            status?: "ACTIVE" | "HIDDEN" | "ARCHIVED";
            slug?: string | null;
            description?: string | null;
            category?: components["schemas"]["ProductCategoryInput"] | null;
            categories?: string[];
            tags?: string[];
            tax_class?: string | null;
            requires_shipping?: boolean;
            can_preorder?: boolean;
            preorder_stops_at?: string | null;
            max_cart_quantity?: number | null;
            low_stock_threshold?: number | null;
            purchase_note?: string | null;
            sku?: string;
            price?: components["schemas"]["MoneyMapInput"] | null;
            cost?: components["schemas"]["MoneyMapInput"] | null;
            stock?: number;
            medias?: components["schemas"]["MediaInput"][];
            options?: components["schemas"]["ProductOptionInput"][];
            variants?: components["schemas"]["ProductVariantInput"][];
        };
        ProductCategoryInput: {
            /** Format: uuid */
            id?: string;
            name?: string;
        };
        MoneyMapInput: {
            [key: string]: number;
        };
        MediaInput: {
            /** Format: uuid */
            asset?: string;
            /** Format: uuid */
            id?: string;
            position?: number;
        };
        ProductOptionInput: {
            name: string;
            values: string[];
        };
        ProductVariantInput: {
            sku: string;
            attributes: {
                [key: string]: string;
            };
            price?: components["schemas"]["MoneyMapInput"] | null;
            cost?: components["schemas"]["MoneyMapInput"] | null;
            stock: number;
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000001",
         *       "name": "Linen shirt",
         *       "status": "ACTIVE",
         *       "type": "VARIABLE_PRODUCT",
         *       "description": "Loose fit",
         *       "category": null,
         *       "categories": [],
         *       "requires_shipping": true,
         *       "can_preorder": false,
         *       "total_stock": 12,
         *       "price_range": {
         *         "min": {
         *           "EUR": 4900
         *         },
         *         "max": {
         *           "EUR": 5400
         *         }
         *       },
         *       "options": [
         *         {
         *           "id": "0198c7a0-0000-7000-8000-000000000002",
         *           "name": "Size",
         *           "values": [
         *             "M",
         *             "L"
         *           ]
         *         }
         *       ],
         *       "media": [],
         *       "variants": [
         *         {
         *           "id": "0198c7a0-0000-7000-8000-000000000003",
         *           "sku": "LINEN-M",
         *           "stock": 5,
         *           "price": {
         *             "EUR": 4900
         *           },
         *           "attributes": {
         *             "0198c7a0-0000-7000-8000-000000000002": "M"
         *           }
         *         },
         *         {
         *           "id": "0198c7a0-0000-7000-8000-000000000004",
         *           "sku": "LINEN-L",
         *           "stock": 7,
         *           "price": {
         *             "EUR": 5400
         *           },
         *           "attributes": {
         *             "0198c7a0-0000-7000-8000-000000000002": "L"
         *           }
         *         }
         *       ],
         *       "created_at": "2026-03-01T12:00:00.000Z",
         *       "updated_at": "2026-03-01T12:00:00.000Z"
         *     }
         */
        Product: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @enum {string} */
            status: "ACTIVE" | "HIDDEN" | "ARCHIVED";
            /** @enum {string} */
            type: "SIMPLE_PRODUCT" | "VARIABLE_PRODUCT" | "VIRTUAL_PRODUCT";
            description: string | null;
            category: string | null;
            categories: components["schemas"]["CategoryReference"][];
            requires_shipping: boolean;
            can_preorder: boolean;
            total_stock: number;
            price_range: components["schemas"]["PriceRange"];
            options: components["schemas"]["ProductOption"][];
            media: components["schemas"]["MediaItem"][];
            variants: components["schemas"]["Variant"][];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        CategoryReference: {
            /** Format: uuid */
            id: string;
            name: string;
            slug: string;
            parent: string | null;
            parent_slug: string | null;
        };
        PriceRange: {
            min: components["schemas"]["MoneyMap"];
            max: components["schemas"]["MoneyMap"];
        };
        MoneyMap: {
            [key: string]: number;
        };
        ProductOption: {
            /** Format: uuid */
            id: string;
            name: string;
            values: string[];
        };
        MediaItem: {
            /** Format: uuid */
            id: string;
            url: string;
            thumbnail: string | null;
            type: string;
            position: number;
        };
        Variant: {
            /** Format: uuid */
            id: string;
            sku: string;
            stock: number;
            price: components["schemas"]["MoneyMap"];
            attributes: {
                [key: string]: string;
            };
        };
        /**
         * @example {
         *       "page": 1,
         *       "size": 20,
         *       "total": 1,
         *       "total_pages": 1,
         *       "has_next_page": false,
         *       "has_previous_page": false,
         *       "items": [
         *         {
         *           "id": "0198c7a0-0000-7000-8000-000000000001",
         *           "name": "Linen shirt",
         *           "status": "ACTIVE",
         *           "type": "VARIABLE_PRODUCT",
         *           "description": "Loose fit",
         *           "category": null,
         *           "categories": [],
         *           "requires_shipping": true,
         *           "can_preorder": false,
         *           "total_stock": 12,
         *           "price_range": {
         *             "min": {
         *               "EUR": 4900
         *             },
         *             "max": {
         *               "EUR": 5400
         *             }
         *           },
         *           "options": [
         *             {
         *               "id": "0198c7a0-0000-7000-8000-000000000002",
         *               "name": "Size",
         *               "values": [
         *                 "M",
         *                 "L"
         *               ]
         *             }
         *           ],
         *           "media": [],
         *           "variants": [
         *             {
         *               "id": "0198c7a0-0000-7000-8000-000000000003",
         *               "sku": "LINEN-M",
         *               "stock": 5,
         *               "price": {
         *                 "EUR": 4900
         *               },
         *               "attributes": {
         *                 "0198c7a0-0000-7000-8000-000000000002": "M"
         *               }
         *             },
         *             {
         *               "id": "0198c7a0-0000-7000-8000-000000000004",
         *               "sku": "LINEN-L",
         *               "stock": 7,
         *               "price": {
         *                 "EUR": 5400
         *               },
         *               "attributes": {
         *                 "0198c7a0-0000-7000-8000-000000000002": "L"
         *               }
         *             }
         *           ],
         *           "created_at": "2026-03-01T12:00:00.000Z",
         *           "updated_at": "2026-03-01T12:00:00.000Z"
         *         }
         *       ]
         *     }
         */
        ProductPage: {
            page: number;
            size: number;
            total: number;
            total_pages: number;
            has_next_page: boolean;
            has_previous_page: boolean;
            items: components["schemas"]["Product"][];
        };
        /**
         * @example {
         *       "name": "Linen shirt, washed",
         *       "description": null,
         *       "tags": [
         *         "Summer",
         *         "New"
         *       ]
         *     }
         */
        ProductUpdate: {
            name?: string;
            /** @enum {string} */
            type?: "SIMPLE_PRODUCT" | "VARIABLE_PRODUCT" | "VIRTUAL_PRODUCT";
            /** @enum {string} */
            status?: "ACTIVE" | "HIDDEN" | "ARCHIVED";
            slug?: string;
            description?: string | null;
            category?: components["schemas"]["ProductCategoryInput"] | null;
            categories?: string[];
            tags?: string[];
            tax_class?: string | null;
            requires_shipping?: boolean;
            can_preorder?: boolean;
            preorder_stops_at?: string | null;
            max_cart_quantity?: number | null;
            low_stock_threshold?: number | null;
            purchase_note?: string | null;
            sku?: string;
            price?: components["schemas"]["MoneyMapInput"] | null;
            cost?: components["schemas"]["MoneyMapInput"] | null;
            stock?: number;
            medias?: components["schemas"]["MediaInput"][];
            remove_medias?: string[];
        };
        VariantInput: {
            sku: string;
            attributes: {
                [key: string]: string;
            };
            price?: components["schemas"]["MoneyMapInput"] | null;
            cost?: components["schemas"]["MoneyMapInput"] | null;
            stock: number;
        };
        VariantUpdate: {
            sku?: string;
            attributes?: {
                [key: string]: string;
            };
            price?: components["schemas"]["MoneyMapInput"] | null;
            cost?: components["schemas"]["MoneyMapInput"] | null;
            stock?: number;
        };
        /**
         * @example {
         *       "page": 1,
         *       "size": 20,
         *       "total": 1,
         *       "total_pages": 1,
         *       "has_next_page": false,
         *       "has_previous_page": false,
         *       "items": [
         *         {
         *           "id": "0198c7a0-0000-7000-8000-000000000006",
         *           "name": "Shirts",
         *           "slug": "shirts",
         *           "parent": null,
         *           "position": 0
         *         }
         *       ]
         *     }
         */
        CategoryPage: {
            page: number;
            size: number;
            total: number;
            total_pages: number;
            has_next_page: boolean;
            has_previous_page: boolean;
            items: components["schemas"]["Category"][];
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000006",
         *       "name": "Shirts",
         *       "slug": "shirts",
         *       "parent": null,
         *       "position": 0
         *     }
         */
        Category: {
            /** Format: uuid */
            id: string;
            name: string;
            slug: string;
            parent: string | null;
            position: number;
        };
        /**
         * @example {
         *       "name": "Shirts"
         *     }
         */
        CategoryInput: {
            name: string;
            slug?: string | null;
            parent?: string | null;
            position?: number;
        };
        CategoryUpdate: {
            name?: string;
            slug?: string;
            parent?: string | null;
            position?: number;
        };
        /**
         * @example {
         *       "page": 1,
         *       "size": 20,
         *       "total": 1,
         *       "total_pages": 1,
         *       "has_next_page": false,
         *       "has_previous_page": false,
         *       "items": [
         *         {
         *           "id": "0198c7a0-0000-7000-8000-000000000005",
         *           "name": "Summer",
         *           "slug": "summer"
         *         }
         *       ]
         *     }
         */
        TagPage: {
            page: number;
            size: number;
            total: number;
            total_pages: number;
            has_next_page: boolean;
            has_previous_page: boolean;
            items: components["schemas"]["Tag"][];
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000005",
         *       "name": "Summer",
         *       "slug": "summer"
         *     }
         */
        Tag: {
            /** Format: uuid */
            id: string;
            name: string;
            slug: string;
        };
        Asset: {
            /** Format: uuid */
            id: string;
            /** Format: uri */
            url: string;
            thumbnail: string | null;
            type: string;
            size: number;
        };
        /**
         * @example {
         *       "page": 1,
         *       "size": 20,
         *       "total": 1,
         *       "total_pages": 1,
         *       "has_next_page": false,
         *       "has_previous_page": false,
         *       "items": [
         *         {
         *           "id": "0198c7a0-0000-7000-8000-000000000010",
         *           "handle": "summer",
         *           "name": "Summer",
         *           "description": null,
         *           "seo_title": "Summer clothes",
         *           "seo_description": null,
         *           "sort_order": "CREATED_DESC",
         *           "product_count": 1,
         *           "created_at": "2026-03-01T12:00:00.000Z",
         *           "updated_at": "2026-03-01T12:00:00.000Z"
         *         }
         *       ]
         *     }
         */
        CollectionPage: {
            page: number;
            size: number;
            total: number;
            total_pages: number;
            has_next_page: boolean;
            has_previous_page: boolean;
            items: components["schemas"]["Collection"][];
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000010",
         *       "handle": "summer",
         *       "name": "Summer",
         *       "description": null,
         *       "seo_title": "Summer clothes",
         *       "seo_description": null,
         *       "sort_order": "CREATED_DESC",
         *       "product_count": 1,
         *       "created_at": "2026-03-01T12:00:00.000Z",
         *       "updated_at": "2026-03-01T12:00:00.000Z"
         *     }
         */
        Collection: {
            /** Format: uuid */
            id: string;
            handle: string;
            name: string;
            description: string | null;
            image_url?: string;
            image_thumbnail?: string;
            seo_title: string | null;
            seo_description: string | null;
            /** @enum {string} */
            sort_order: "MANUAL" | "TITLE_ASC" | "TITLE_DESC" | "CREATED_ASC" | "CREATED_DESC" | "STOCK_DESC";
            product_count: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        /**
         * @example {
         *       "name": "Summer",
         *       "membership_type": "SMART",
         *       "rules": {
         *         "match": "all",
         *         "conditions": [
         *           {
         *             "field": "tag",
         *             "operator": "eq",
         *             "value": "summer"
         *           }
         *         ]
         *       },
         *       "seo": {
         *         "title": "Summer clothes"
         *       },
         *       "sort_order": "CREATED_DESC",
         *       "published": true
         *     }
         */
        CollectionInput: {
            name: string;
            handle?: string | null;
            description?: string | null;
            image?: string | null;
            seo?: components["schemas"]["CollectionSeo"] | null;
            /** @enum {string} */
            sort_order?: "MANUAL" | "TITLE_ASC" | "TITLE_DESC" | "CREATED_ASC" | "CREATED_DESC" | "STOCK_DESC";
            /** @enum {string} */
            membership_type?: "MANUAL" | "SMART";
            /** @description As in POST /v1/collections/preview; required when SMART, ignored otherwise */
            rules?: unknown;
            published?: boolean;
            publish_at?: string | null;
            unpublish_at?: string | null;
        };
        CollectionSeo: {
            title?: string | null;
            description?: string | null;
        };
        RulesPreviewInput: {
            rules: components["schemas"]["Rules"];
        };
        Rules: {
            /** @enum {string} */
            match: "all" | "any";
            conditions: components["schemas"]["RuleCondition"][];
        };
        RuleCondition: {
            /** @description One of name, sku, type, status, category, tag, stock, requires_shipping, can_preorder, created_at, price.<CUR>, cost.<CUR>; <CUR> is an ISO 4217 currency code */
            field: string;
            /** @description name, sku take eq, ne, contains, not_contains, starts_with, ends_with, in, not_in, is_set, is_not_set; type, status take eq, ne, in, not_in; category, tag take eq, ne, in, not_in, is_set, is_not_set; stock, created_at, price.<CUR>, cost.<CUR> take eq, ne, gt, gte, lt, lte, in, not_in, is_set, is_not_set; requires_shipping, can_preorder take eq, ne */
            operator: string;
            /** @description What the field is compared with: a text, an integer (amounts in minor units), true or false, or a date-time with its offset; for in and not_in a list of 1 to 1,000 of them; left out for is_set and is_not_set */
            value?: unknown;
        };
        RulesExplanation: {
            /** @enum {string} */
            match: "all" | "any";
            conditions: components["schemas"]["ExplainedCondition"][];
            holds: boolean;
        };
        ExplainedCondition: {
            field: string;
            operator: string;
            value?: unknown;
            holds: boolean;
        };
        /**
         * @example {
         *       "name": "Summer sale",
         *       "seo": null
         *     }
         */
        CollectionUpdate: {
            name?: string;
            handle?: string;
            description?: string | null;
            image?: string | null;
            seo?: components["schemas"]["CollectionSeo"] | null;
            /** @enum {string} */
            sort_order?: "MANUAL" | "TITLE_ASC" | "TITLE_DESC" | "CREATED_ASC" | "CREATED_DESC" | "STOCK_DESC";
            /** @enum {string} */
            membership_type?: "MANUAL" | "SMART";
            /** @description As in POST /v1/collections/preview; required when SMART, ignored otherwise */
            rules?: unknown;
            published?: boolean;
            publish_at?: string | null;
            unpublish_at?: string | null;
        };
        CollectionProducts: {
            products: string[];
        };
        CollectionOrder: {
            positions: components["schemas"]["ProductPosition"][];
        };
        ProductPosition: {
            /** Format: uuid */
            product: string;
            position: number;
        };
        /**
         * @example {
         *       "firstname": "Ada",
         *       "lastname": "Lovelace",
         *       "email": "ada@example.com"
         *     }
         */
        CustomerInput: {
            firstname: string;
            lastname?: string | null;
            email?: string | null;
            phone?: string | null;
            note?: string | null;
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000020",
         *       "firstname": "Ada",
         *       "lastname": "Lovelace",
         *       "email": "ada@example.com",
         *       "phone": null,
         *       "note": null,
         *       "created_at": "2026-03-01T12:00:00.000Z",
         *       "updated_at": "2026-03-01T12:00:00.000Z"
         *     }
         */
        Customer: {
            /** Format: uuid */
            id: string;
            firstname: string;
            lastname: string | null;
            email: string | null;
            phone: string | null;
            note: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        /**
         * @example {
         *       "page": 1,
         *       "size": 20,
         *       "total": 1,
         *       "total_pages": 1,
         *       "has_next_page": false,
         *       "has_previous_page": false,
         *       "items": [
         *         {
         *           "id": "0198c7a0-0000-7000-8000-000000000020",
         *           "firstname": "Ada",
         *           "lastname": "Lovelace",
         *           "email": "ada@example.com",
         *           "phone": null,
         *           "note": null,
         *           "created_at": "2026-03-01T12:00:00.000Z",
         *           "updated_at": "2026-03-01T12:00:00.000Z"
         *         }
         *       ]
         *     }
         */
        CustomerPage: {
            page: number;
            size: number;
            total: number;
            total_pages: number;
            has_next_page: boolean;
            has_previous_page: boolean;
            items: components["schemas"]["Customer"][];
        };
        /**
         * @example {
         *       "phone": "+44 20 7946 0000",
         *       "note": null
         *     }
         */
        CustomerUpdate: {
            firstname?: string;
            lastname?: string | null;
            email?: string | null;
            phone?: string | null;
            note?: string | null;
        };
        /**
         * @example {
         *       "currency": "EUR",
         *       "items": [
         *         {
         *           "sku": "LINEN-M",
         *           "quantity": 2
         *         }
         *       ],
         *       "customer": {
         *         "firstname": "Ada",
         *         "lastname": "Lovelace",
         *         "email": "ada@example.com"
         *       },
         *       "shipping_address": {
         *         "street": "12 Analytical Row",
         *         "city": "London"
         *       },
         *       "total_shipping": 500,
         *       "sales_channel": "storefront",
         *       "promise_date": "2026-03-08",
         *       "status": "PLACED"
         *     }
         */
        OrderInput: {
            currency: string;
            items: components["schemas"]["OrderLineInput"][];
            customer?: components["schemas"]["OrderCustomerInput"] | null;
            shipping_address?: {
                [key: string]: unknown;
            } | null;
            total_shipping?: number | null;
            total_tax?: number | null;
            total_discount?: number | null;
            sales_channel?: string | null;
            note?: string | null;
            order_datetime?: string | null;
            promise_date?: string | null;
            status?: ("CART" | "PLACED") | null;
        } & {
            [key: string]: unknown;
        };
        OrderLineInput: {
            variant?: string | null;
            sku?: string | null;
            quantity: number;
            negotiated_unit_price?: number | null;
        } & {
            [key: string]: unknown;
        };
        OrderCustomerInput: {
            id?: string | null;
            lastname?: string | null;
            email?: string | null;
            phone?: string | null;
            firstname?: string | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000030",
         *       "order_number": "1001",
         *       "status": "PLACED",
         *       "payment_status": "UNPAID",
         *       "fulfillment_status": "UNFULFILLED",
         *       "sales_channel": "storefront",
         *       "currency": "EUR",
         *       "customer": {
         *         "id": "0198c7a0-0000-7000-8000-000000000020",
         *         "name": "Ada Lovelace",
         *         "email": "ada@example.com"
         *       },
         *       "items": [
         *         {
         *           "id": "0198c7a0-0000-7000-8000-000000000031",
         *           "title": "Linen shirt - M",
         *           "sku": "LINEN-M",
         *           "quantity": 2,
         *           "unit_price": 4900,
         *           "negotiated_unit_price": null,
         *           "total_price": 9800
         *         }
         *       ],
         *       "subtotal_price": 9800,
         *       "total_shipping": 500,
         *       "total_tax": 0,
         *       "total_discount": 0,
         *       "total_price": 10300,
         *       "total_items": 2,
         *       "shipping_address": {
         *         "street": "12 Analytical Row",
         *         "city": "London"
         *       },
         *       "note": null,
         *       "order_datetime": "2026-03-01T12:00:00.000Z",
         *       "promise_date": "2026-03-08"
         *     }
         */
        Order: {
            /** Format: uuid */
            id: string;
            order_number: string;
            /** @enum {string} */
            status: "CART" | "PLACED" | "COMPLETED" | "CANCELLED";
            /** @enum {string} */
            payment_status: "UNPAID" | "PARTIALLY_PAID" | "PAID" | "REFUNDED";
            /** @enum {string} */
            fulfillment_status: "UNFULFILLED" | "PARTIALLY_FULFILLED" | "FULFILLED";
            sales_channel: string | null;
            currency: string;
            customer: components["schemas"]["OrderCustomer"] | null;
            items: components["schemas"]["OrderItem"][];
            subtotal_price: number;
            total_shipping: number;
            total_tax: number;
            total_discount: number;
            total_price: number;
            total_items: number;
            shipping_address: {
                [key: string]: unknown;
            } | null;
            note: string | null;
            /** Format: date-time */
            order_datetime: string;
            promise_date: string | null;
        };
        OrderCustomer: {
            /** Format: uuid */
            id: string;
            name: string;
            email: string | null;
        };
        OrderItem: {
            /** Format: uuid */
            id: string;
            title: string;
            sku: string;
            quantity: number;
            unit_price: number;
            negotiated_unit_price: number | null;
            total_price: number;
        };
        /**
         * @example {
         *       "page": 1,
         *       "size": 20,
         *       "total": 1,
         *       "total_pages": 1,
         *       "has_next_page": false,
         *       "has_previous_page": false,
         *       "items": [
         *         {
         *           "id": "0198c7a0-0000-7000-8000-000000000030",
         *           "order_number": "1001",
         *           "status": "PLACED",
         *           "payment_status": "UNPAID",
         *           "fulfillment_status": "UNFULFILLED",
         *           "sales_channel": "storefront",
         *           "currency": "EUR",
         *           "customer": {
         *             "id": "0198c7a0-0000-7000-8000-000000000020",
         *             "name": "Ada Lovelace",
         *             "email": "ada@example.com"
         *           },
         *           "items": [
         *             {
         *               "id": "0198c7a0-0000-7000-8000-000000000031",
         *               "title": "Linen shirt - M",
         *               "sku": "LINEN-M",
         *               "quantity": 2,
         *               "unit_price": 4900,
         *               "negotiated_unit_price": null,
         *               "total_price": 9800
         *             }
         *           ],
         *           "subtotal_price": 9800,
         *           "total_shipping": 500,
         *           "total_tax": 0,
         *           "total_discount": 0,
         *           "total_price": 10300,
         *           "total_items": 2,
         *           "shipping_address": {
         *             "street": "12 Analytical Row",
         *             "city": "London"
         *           },
         *           "note": null,
         *           "order_datetime": "2026-03-01T12:00:00.000Z",
         *           "promise_date": "2026-03-08"
         *         }
         *       ]
         *     }
         */
        OrderPage: {
            page: number;
            size: number;
            total: number;
            total_pages: number;
            has_next_page: boolean;
            has_previous_page: boolean;
            items: components["schemas"]["Order"][];
        };
        /**
         * @example {
         *       "status": "COMPLETED",
         *       "note": "Picked up at the shop"
         *     }
         */
        OrderUpdate: {
            note?: string | null;
            promise_date?: string | null;
            /** @enum {string} */
            status?: "CART" | "PLACED" | "COMPLETED" | "CANCELLED";
        };
        OrderFormSchema: {
            schema: {
                [key: string]: unknown;
            } | null;
        };
        /**
         * @example {
         *       "amount": 10300,
         *       "currency": "EUR",
         *       "provider": "example-pay",
         *       "reference": "pay_8271"
         *     }
         */
        PaymentInput: {
            amount: number;
            currency: string;
            provider?: string | null;
            reference: string;
            metadata?: {
                [key: string]: unknown;
            } | null;
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000032",
         *       "order": "0198c7a0-0000-7000-8000-000000000030",
         *       "amount": 10300,
         *       "currency": "EUR",
         *       "provider": "example-pay",
         *       "reference": "pay_8271",
         *       "metadata": {},
         *       "created_at": "2026-03-01T12:05:00.000Z"
         *     }
         */
        Payment: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            order: string;
            amount: number;
            currency: string;
            provider: string | null;
            reference: string;
            metadata: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            created_at: string;
        };
        /**
         * @example {
         *       "page": 1,
         *       "size": 20,
         *       "total": 1,
         *       "total_pages": 1,
         *       "has_next_page": false,
         *       "has_previous_page": false,
         *       "items": [
         *         {
         *           "id": "0198c7a0-0000-7000-8000-000000000032",
         *           "order": "0198c7a0-0000-7000-8000-000000000030",
         *           "amount": 10300,
         *           "currency": "EUR",
         *           "provider": "example-pay",
         *           "reference": "pay_8271",
         *           "metadata": {},
         *           "created_at": "2026-03-01T12:05:00.000Z"
         *         }
         *       ]
         *     }
         */
        PaymentPage: {
            page: number;
            size: number;
            total: number;
            total_pages: number;
            has_next_page: boolean;
            has_previous_page: boolean;
            items: components["schemas"]["Payment"][];
        };
        /**
         * @example {
         *       "provider": "example-pay"
         *     }
         */
        CheckoutInput: {
            provider: string;
        };
        /**
         * @example {
         *       "sessionId": "cs_4f1d",
         *       "redirectUrl": "https://pay.example.com/cs_4f1d",
         *       "amountMinor": 2500
         *     }
         */
        CheckoutSession: {
            sessionId: string;
            /** Format: uri */
            redirectUrl: string;
            amountMinor: number;
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000033",
         *       "number": "1",
         *       "order": "0198c7a0-0000-7000-8000-000000000030",
         *       "currency": "EUR",
         *       "total": 10300,
         *       "status": "PAID",
         *       "created_at": "2026-03-01T12:05:00.000Z"
         *     }
         */
        Invoice: {
            /** Format: uuid */
            id: string;
            number: string;
            /** Format: uuid */
            order: string;
            currency: string;
            total: number;
            /** @enum {string} */
            status: "ISSUED" | "PAID";
            /** Format: date-time */
            created_at: string;
        };
        /**
         * @example {
         *       "page": 1,
         *       "size": 20,
         *       "total": 1,
         *       "total_pages": 1,
         *       "has_next_page": false,
         *       "has_previous_page": false,
         *       "items": [
         *         {
         *           "id": "0198c7a0-0000-7000-8000-000000000033",
         *           "number": "1",
         *           "order": "0198c7a0-0000-7000-8000-000000000030",
         *           "currency": "EUR",
         *           "total": 10300,
         *           "status": "PAID",
         *           "created_at": "2026-03-01T12:05:00.000Z"
         *         }
         *       ]
         *     }
         */
        InvoicePage: {
            page: number;
            size: number;
            total: number;
            total_pages: number;
            has_next_page: boolean;
            has_previous_page: boolean;
            items: components["schemas"]["Invoice"][];
        };
        FulfillmentInput: {
            items?: components["schemas"]["FulfillmentItemInput"][] | null;
        };
        FulfillmentItemInput: {
            /** Format: uuid */
            id: string;
            quantity: number;
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000034",
         *       "order": "0198c7a0-0000-7000-8000-000000000030",
         *       "items": [
         *         {
         *           "id": "0198c7a0-0000-7000-8000-000000000031",
         *           "quantity": 2
         *         }
         *       ],
         *       "created_at": "2026-03-02T09:00:00.000Z"
         *     }
         */
        Fulfillment: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            order: string;
            items: components["schemas"]["FulfillmentItem"][];
            /** Format: date-time */
            created_at: string;
        };
        FulfillmentItem: {
            /** Format: uuid */
            id: string;
            quantity: number;
        };
        /**
         * @example {
         *       "page": 1,
         *       "size": 20,
         *       "total": 1,
         *       "total_pages": 1,
         *       "has_next_page": false,
         *       "has_previous_page": false,
         *       "items": [
         *         {
         *           "id": "0198c7a0-0000-7000-8000-000000000034",
         *           "order": "0198c7a0-0000-7000-8000-000000000030",
         *           "items": [
         *             {
         *               "id": "0198c7a0-0000-7000-8000-000000000031",
         *               "quantity": 2
         *             }
         *           ],
         *           "created_at": "2026-03-02T09:00:00.000Z"
         *         }
         *       ]
         *     }
         */
        FulfillmentPage: {
            page: number;
            size: number;
            total: number;
            total_pages: number;
            has_next_page: boolean;
            has_previous_page: boolean;
            items: components["schemas"]["Fulfillment"][];
        };
        ImportTemplateList: {
            templates: components["schemas"]["ImportTemplate"][];
        };
        ImportTemplate: {
            key: components["schemas"]["ImportTemplateKey"];
            file: string;
            header: string[];
            columns: components["schemas"]["ImportColumn"][];
        };
        /** @enum {string} */
        ImportTemplateKey: "products" | "product_variants" | "stock" | "categories" | "customers" | "collections";
        ImportColumn: {
            name: string;
            /** @enum {string} */
            type: "string" | "integer" | "money" | "boolean" | "uuid" | "date" | "datetime" | "enum" | "list";
            required: boolean;
            enum: string[];
            references: string | null;
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000040",
         *       "template": "stock",
         *       "file": "stock.csv",
         *       "status": "UPLOADED",
         *       "total_rows": 0,
         *       "processed_rows": 0,
         *       "created_at": "2026-03-01T12:00:00.000Z",
         *       "updated_at": "2026-03-01T12:00:00.000Z"
         *     }
         */
        Import: {
            /** Format: uuid */
            id: string;
            template: components["schemas"]["ImportTemplateKey"];
            file: string;
            /** @enum {string} */
            status: "UPLOADED" | "VALIDATING" | "VALIDATED" | "INVALID" | "IMPORTING" | "COMPLETED" | "COMPLETED_WITH_ERRORS" | "FAILED" | "CANCELLED";
            total_rows: number;
            processed_rows: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        /**
         * @example {
         *       "page": 1,
         *       "size": 20,
         *       "total": 1,
         *       "total_pages": 1,
         *       "has_next_page": false,
         *       "has_previous_page": false,
         *       "items": [
         *         {
         *           "id": "0198c7a0-0000-7000-8000-000000000040",
         *           "template": "stock",
         *           "file": "stock.csv",
         *           "status": "UPLOADED",
         *           "total_rows": 0,
         *           "processed_rows": 0,
         *           "created_at": "2026-03-01T12:00:00.000Z",
         *           "updated_at": "2026-03-01T12:00:00.000Z"
         *         }
         *       ]
         *     }
         */
        ImportPage: {
            page: number;
            size: number;
            total: number;
            total_pages: number;
            has_next_page: boolean;
            has_previous_page: boolean;
            items: components["schemas"]["Import"][];
        };
        /**
         * @example {
         *       "import_id": "0198c7a0-0000-7000-8000-000000000040",
         *       "status": "INVALID",
         *       "summary": {
         *         "total_rows": 2,
         *         "valid_rows": 1,
         *         "invalid_rows": 1,
         *         "created": 0,
         *         "updated": 0,
         *         "failed": 0,
         *         "errors": [
         *           {
         *             "row": 3,
         *             "column": "stock",
         *             "code": "bad_request",
         *             "message": "must be an integer",
         *             "value": "many"
         *           }
         *         ],
         *         "errors_truncated": false
         *       }
         *     }
         */
        ImportReport: {
            /** Format: uuid */
            import_id: string;
            /** @enum {string} */
            status: "UPLOADED" | "VALIDATING" | "VALIDATED" | "INVALID" | "IMPORTING" | "COMPLETED" | "COMPLETED_WITH_ERRORS" | "FAILED" | "CANCELLED";
            summary: components["schemas"]["ImportSummary"];
        };
        ImportSummary: {
            total_rows: number;
            valid_rows: number;
            invalid_rows: number;
            created: number;
            updated: number;
            failed: number;
            errors: components["schemas"]["ImportRowError"][];
            errors_truncated: boolean;
        };
        ImportRowError: {
            row: number;
            column: string;
            /** @enum {string} */
            code: "bad_request" | "unprocessable" | "conflict" | "duplicate";
            message: string;
            value: string | null;
        };
        ImportDiff: {
            create: components["schemas"]["ImportDiffRows"];
            update: components["schemas"]["ImportDiffRows"];
            unchanged: components["schemas"]["ImportDiffRows"];
        };
        ImportDiffRows: {
            count: number;
            rows: components["schemas"]["ImportDiffRow"][];
        };
        ImportDiffRow: {
            row: number;
            key: string;
        };
        ImportUndo: {
            /** Format: uuid */
            import_id: string;
            /** @enum {string} */
            status: "RUNNING" | "DONE" | "FAILED";
            deleted: number;
            restored: number;
            kept: number;
            rows: components["schemas"]["ImportKeptRow"][];
        };
        ImportKeptRow: {
            key: string;
            reason: string;
        };
        /**
         * @example {
         *       "page": 1,
         *       "size": 20,
         *       "total": 1,
         *       "total_pages": 1,
         *       "has_next_page": false,
         *       "has_previous_page": false,
         *       "items": [
         *         {
         *           "id": "0198c7a0-0000-7000-8000-000000000070",
         *           "provider": "acme-pay",
         *           "name": "Acme Pay",
         *           "state": "ACTIVE",
         *           "scopes": [
         *             "sale::read",
         *             "sale::create"
         *           ],
         *           "requested_scopes": [],
         *           "embed": "/embed",
         *           "webhooks": {
         *             "path": "/webhooks",
         *             "events": [
         *               "order.paid"
         *             ]
         *           },
         *           "checkout": {
         *             "path": "/checkout"
         *           },
         *           "created_at": "2026-03-01T12:00:00.000Z",
         *           "activated_at": "2026-03-01T12:00:01.000Z"
         *         }
         *       ]
         *     }
         */
        AppPage: {
            page: number;
            size: number;
            total: number;
            total_pages: number;
            has_next_page: boolean;
            has_previous_page: boolean;
            items: components["schemas"]["App"][];
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000070",
         *       "provider": "acme-pay",
         *       "name": "Acme Pay",
         *       "state": "ACTIVE",
         *       "scopes": [
         *         "sale::read",
         *         "sale::create"
         *       ],
         *       "requested_scopes": [],
         *       "embed": "/embed",
         *       "webhooks": {
         *         "path": "/webhooks",
         *         "events": [
         *           "order.paid"
         *         ]
         *       },
         *       "checkout": {
         *         "path": "/checkout"
         *       },
         *       "created_at": "2026-03-01T12:00:00.000Z",
         *       "activated_at": "2026-03-01T12:00:01.000Z"
         *     }
         */
        App: {
            /** Format: uuid */
            id: string;
            provider: string;
            name: string;
            /** @enum {string} */
            state: "PENDING" | "ACTIVE" | "FAILED" | "UNINSTALLED";
            scopes: string[];
            requested_scopes: string[];
            embed: string;
            webhooks: {
                path: string;
                events: string[];
            } | null;
            checkout: {
                path: string;
            } | null;
            /** Format: date-time */
            created_at: string;
            activated_at: string | null;
        };
        /**
         * @example {
         *       "url": "https://shop.example.com/hooks",
         *       "enabled_events": [
         *         "order.paid",
         *         "product.updated"
         *       ]
         *     }
         */
        WebhookEndpointInput: {
            url: string;
            /** @description Names from `GET /v1/webhooks/event-types`, or `["*"]`: every event there is and will be. */
            enabled_events: string[];
            /** @default null */
            description: string | null;
            /** @default false */
            standard_signature: boolean;
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000050",
         *       "url": "https://shop.example.com/hooks",
         *       "enabled_events": [
         *         "order.paid",
         *         "product.updated"
         *       ],
         *       "description": null,
         *       "standard_signature": false,
         *       "created_at": "2026-03-01T12:00:00.000Z",
         *       "updated_at": "2026-03-01T12:00:00.000Z",
         *       "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
         *     }
         */
        WebhookEndpointWithSecret: {
            /** Format: uuid */
            id: string;
            url: string;
            enabled_events: string[];
            description: string | null;
            standard_signature: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            secret: string;
        };
        /**
         * @example {
         *       "page": 1,
         *       "size": 20,
         *       "total": 1,
         *       "total_pages": 1,
         *       "has_next_page": false,
         *       "has_previous_page": false,
         *       "items": [
         *         {
         *           "id": "0198c7a0-0000-7000-8000-000000000050",
         *           "url": "https://shop.example.com/hooks",
         *           "enabled_events": [
         *             "order.paid",
         *             "product.updated"
         *           ],
         *           "description": null,
         *           "standard_signature": false,
         *           "created_at": "2026-03-01T12:00:00.000Z",
         *           "updated_at": "2026-03-01T12:00:00.000Z"
         *         }
         *       ]
         *     }
         */
        WebhookEndpointPage: {
            page: number;
            size: number;
            total: number;
            total_pages: number;
            has_next_page: boolean;
            has_previous_page: boolean;
            items: components["schemas"]["WebhookEndpoint"][];
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000050",
         *       "url": "https://shop.example.com/hooks",
         *       "enabled_events": [
         *         "order.paid",
         *         "product.updated"
         *       ],
         *       "description": null,
         *       "standard_signature": false,
         *       "created_at": "2026-03-01T12:00:00.000Z",
         *       "updated_at": "2026-03-01T12:00:00.000Z"
         *     }
         */
        WebhookEndpoint: {
            /** Format: uuid */
            id: string;
            url: string;
            enabled_events: string[];
            description: string | null;
            standard_signature: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        /**
         * @example {
         *       "enabled_events": [
         *         "*"
         *       ]
         *     }
         */
        WebhookEndpointUpdate: {
            url?: string;
            /** @description Names from `GET /v1/webhooks/event-types`, or `["*"]`: every event there is and will be. */
            enabled_events?: string[];
            description?: string | null;
            standard_signature?: boolean;
        };
        SecretRotation: {
            /** @default 0 */
            overlap_seconds: number;
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000051",
         *       "event_id": "0198c7a0-0000-7000-8000-000000000052",
         *       "event_type": "order.paid",
         *       "status": "DELIVERED",
         *       "attempts_made": 1,
         *       "next_attempt_at": null,
         *       "created_at": "2026-03-01T12:05:00.000Z",
         *       "delivered_at": "2026-03-01T12:05:01.000Z"
         *     }
         */
        Delivery: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            event_id: string;
            event_type: string;
            /** @enum {string} */
            status: "PENDING" | "DELIVERED" | "FAILED";
            attempts_made: number;
            next_attempt_at: string | null;
            /** Format: date-time */
            created_at: string;
            delivered_at: string | null;
        };
        RecoveryInput: {
            /** Format: date-time */
            since: string;
        };
        Recovery: {
            /** Format: date-time */
            since: string;
            deliveries: number;
        };
        EventTypeList: {
            event_types: string[];
        };
        /**
         * @example {
         *       "page": 1,
         *       "size": 20,
         *       "total": 1,
         *       "total_pages": 1,
         *       "has_next_page": false,
         *       "has_previous_page": false,
         *       "items": [
         *         {
         *           "id": "0198c7a0-0000-7000-8000-000000000051",
         *           "event_id": "0198c7a0-0000-7000-8000-000000000052",
         *           "event_type": "order.paid",
         *           "status": "DELIVERED",
         *           "attempts_made": 1,
         *           "next_attempt_at": null,
         *           "created_at": "2026-03-01T12:05:00.000Z",
         *           "delivered_at": "2026-03-01T12:05:01.000Z"
         *         }
         *       ]
         *     }
         */
        DeliveryPage: {
            page: number;
            size: number;
            total: number;
            total_pages: number;
            has_next_page: boolean;
            has_previous_page: boolean;
            items: components["schemas"]["Delivery"][];
        };
        DeliveryDetail: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            event_id: string;
            event_type: string;
            /** @enum {string} */
            status: "PENDING" | "DELIVERED" | "FAILED";
            attempts_made: number;
            next_attempt_at: string | null;
            /** Format: date-time */
            created_at: string;
            delivered_at: string | null;
            attempts: components["schemas"]["DeliveryAttempt"][];
        };
        DeliveryAttempt: {
            number: number;
            /** Format: date-time */
            at: string;
            duration_ms: number;
            request: components["schemas"]["AttemptRequest"];
            response: components["schemas"]["AttemptResponse"] | null;
            error: components["schemas"]["AttemptError"] | null;
        };
        AttemptRequest: {
            url: string;
            headers: {
                [key: string]: string | string[];
            };
            body: string;
            /** @constant */
            truncated?: true;
        };
        AttemptResponse: {
            status: number;
            headers: {
                [key: string]: string | string[];
            };
            body: string;
            truncated: boolean;
        };
        AttemptError: {
            class: string;
            message: string;
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000060",
         *       "type": "product.created",
         *       "timestamp": "2026-03-01T12:05:00.000Z",
         *       "livemode": true,
         *       "data": {
         *         "id": "0198c7a0-0000-7000-8000-000000000001",
         *         "name": "Linen shirt",
         *         "status": "ACTIVE",
         *         "type": "VARIABLE_PRODUCT",
         *         "description": "Loose fit",
         *         "category": null,
         *         "categories": [],
         *         "requires_shipping": true,
         *         "can_preorder": false,
         *         "total_stock": 12,
         *         "price_range": {
         *           "min": {
         *             "EUR": 4900
         *           },
         *           "max": {
         *             "EUR": 5400
         *           }
         *         },
         *         "options": [
         *           {
         *             "id": "0198c7a0-0000-7000-8000-000000000002",
         *             "name": "Size",
         *             "values": [
         *               "M",
         *               "L"
         *             ]
         *           }
         *         ],
         *         "media": [],
         *         "variants": [
         *           {
         *             "id": "0198c7a0-0000-7000-8000-000000000003",
         *             "sku": "LINEN-M",
         *             "stock": 5,
         *             "price": {
         *               "EUR": 4900
         *             },
         *             "attributes": {
         *               "0198c7a0-0000-7000-8000-000000000002": "M"
         *             }
         *           },
         *           {
         *             "id": "0198c7a0-0000-7000-8000-000000000004",
         *             "sku": "LINEN-L",
         *             "stock": 7,
         *             "price": {
         *               "EUR": 5400
         *             },
         *             "attributes": {
         *               "0198c7a0-0000-7000-8000-000000000002": "L"
         *             }
         *           }
         *         ],
         *         "created_at": "2026-03-01T12:00:00.000Z",
         *         "updated_at": "2026-03-01T12:00:00.000Z"
         *       }
         *     }
         */
        ProductCreatedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "product.created";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["ProductData"];
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000001",
         *       "name": "Linen shirt",
         *       "status": "ACTIVE",
         *       "type": "VARIABLE_PRODUCT",
         *       "description": "Loose fit",
         *       "category": null,
         *       "categories": [],
         *       "requires_shipping": true,
         *       "can_preorder": false,
         *       "total_stock": 12,
         *       "price_range": {
         *         "min": {
         *           "EUR": 4900
         *         },
         *         "max": {
         *           "EUR": 5400
         *         }
         *       },
         *       "options": [
         *         {
         *           "id": "0198c7a0-0000-7000-8000-000000000002",
         *           "name": "Size",
         *           "values": [
         *             "M",
         *             "L"
         *           ]
         *         }
         *       ],
         *       "media": [],
         *       "variants": [
         *         {
         *           "id": "0198c7a0-0000-7000-8000-000000000003",
         *           "sku": "LINEN-M",
         *           "stock": 5,
         *           "price": {
         *             "EUR": 4900
         *           },
         *           "attributes": {
         *             "0198c7a0-0000-7000-8000-000000000002": "M"
         *           }
         *         },
         *         {
         *           "id": "0198c7a0-0000-7000-8000-000000000004",
         *           "sku": "LINEN-L",
         *           "stock": 7,
         *           "price": {
         *             "EUR": 5400
         *           },
         *           "attributes": {
         *             "0198c7a0-0000-7000-8000-000000000002": "L"
         *           }
         *         }
         *       ],
         *       "created_at": "2026-03-01T12:00:00.000Z",
         *       "updated_at": "2026-03-01T12:00:00.000Z"
         *     }
         */
        ProductData: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @enum {string} */
            status: "ACTIVE" | "HIDDEN" | "ARCHIVED";
            /** @enum {string} */
            type: "SIMPLE_PRODUCT" | "VARIABLE_PRODUCT" | "VIRTUAL_PRODUCT";
            description: string | null;
            category: string | null;
            categories: components["schemas"]["CategoryReference"][];
            requires_shipping: boolean;
            can_preorder: boolean;
            total_stock: number;
            price_range: components["schemas"]["PriceRange"];
            options: components["schemas"]["ProductOption"][];
            media: components["schemas"]["MediaItem"][];
            variants: components["schemas"]["Variant"][];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000060",
         *       "type": "product.updated",
         *       "timestamp": "2026-03-01T12:05:00.000Z",
         *       "livemode": true,
         *       "data": {
         *         "id": "0198c7a0-0000-7000-8000-000000000001",
         *         "name": "Linen shirt",
         *         "status": "ACTIVE",
         *         "type": "VARIABLE_PRODUCT",
         *         "description": "Loose fit",
         *         "category": null,
         *         "categories": [],
         *         "requires_shipping": true,
         *         "can_preorder": false,
         *         "total_stock": 12,
         *         "price_range": {
         *           "min": {
         *             "EUR": 4900
         *           },
         *           "max": {
         *             "EUR": 5400
         *           }
         *         },
         *         "options": [
         *           {
         *             "id": "0198c7a0-0000-7000-8000-000000000002",
         *             "name": "Size",
         *             "values": [
         *               "M",
         *               "L"
         *             ]
         *           }
         *         ],
         *         "media": [],
         *         "variants": [
         *           {
         *             "id": "0198c7a0-0000-7000-8000-000000000003",
         *             "sku": "LINEN-M",
         *             "stock": 5,
         *             "price": {
         *               "EUR": 4900
         *             },
         *             "attributes": {
         *               "0198c7a0-0000-7000-8000-000000000002": "M"
         *             }
         *           },
         *           {
         *             "id": "0198c7a0-0000-7000-8000-000000000004",
         *             "sku": "LINEN-L",
         *             "stock": 7,
         *             "price": {
         *               "EUR": 5400
         *             },
         *             "attributes": {
         *               "0198c7a0-0000-7000-8000-000000000002": "L"
         *             }
         *           }
         *         ],
         *         "created_at": "2026-03-01T12:00:00.000Z",
         *         "updated_at": "2026-03-01T12:00:00.000Z"
         *       }
         *     }
         */
        ProductUpdatedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "product.updated";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["ProductData"];
        };
        ProductDeletedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "product.deleted";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["Deleted"];
        };
        Deleted: {
            /** Format: uuid */
            id: string;
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000060",
         *       "type": "collection.created",
         *       "timestamp": "2026-03-01T12:05:00.000Z",
         *       "livemode": true,
         *       "data": {
         *         "id": "0198c7a0-0000-7000-8000-000000000010",
         *         "handle": "summer",
         *         "name": "Summer",
         *         "description": null,
         *         "seo_title": "Summer clothes",
         *         "seo_description": null,
         *         "sort_order": "CREATED_DESC",
         *         "product_count": 1,
         *         "created_at": "2026-03-01T12:00:00.000Z",
         *         "updated_at": "2026-03-01T12:00:00.000Z"
         *       }
         *     }
         */
        CollectionCreatedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "collection.created";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["CollectionData"];
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000010",
         *       "handle": "summer",
         *       "name": "Summer",
         *       "description": null,
         *       "seo_title": "Summer clothes",
         *       "seo_description": null,
         *       "sort_order": "CREATED_DESC",
         *       "product_count": 1,
         *       "created_at": "2026-03-01T12:00:00.000Z",
         *       "updated_at": "2026-03-01T12:00:00.000Z"
         *     }
         */
        CollectionData: {
            /** Format: uuid */
            id: string;
            handle: string;
            name: string;
            description: string | null;
            image_url?: string;
            image_thumbnail?: string;
            seo_title: string | null;
            seo_description: string | null;
            /** @enum {string} */
            sort_order: "MANUAL" | "TITLE_ASC" | "TITLE_DESC" | "CREATED_ASC" | "CREATED_DESC" | "STOCK_DESC";
            product_count: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000060",
         *       "type": "collection.updated",
         *       "timestamp": "2026-03-01T12:05:00.000Z",
         *       "livemode": true,
         *       "data": {
         *         "id": "0198c7a0-0000-7000-8000-000000000010",
         *         "handle": "summer",
         *         "name": "Summer",
         *         "description": null,
         *         "seo_title": "Summer clothes",
         *         "seo_description": null,
         *         "sort_order": "CREATED_DESC",
         *         "product_count": 1,
         *         "created_at": "2026-03-01T12:00:00.000Z",
         *         "updated_at": "2026-03-01T12:00:00.000Z"
         *       }
         *     }
         */
        CollectionUpdatedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "collection.updated";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["CollectionData"];
        };
        CollectionDeletedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "collection.deleted";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["Deleted"];
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000060",
         *       "type": "category.created",
         *       "timestamp": "2026-03-01T12:05:00.000Z",
         *       "livemode": true,
         *       "data": {
         *         "id": "0198c7a0-0000-7000-8000-000000000006",
         *         "name": "Shirts",
         *         "slug": "shirts",
         *         "parent": null,
         *         "position": 0
         *       }
         *     }
         */
        CategoryCreatedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "category.created";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["CategoryData"];
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000006",
         *       "name": "Shirts",
         *       "slug": "shirts",
         *       "parent": null,
         *       "position": 0
         *     }
         */
        CategoryData: {
            /** Format: uuid */
            id: string;
            name: string;
            slug: string;
            parent: string | null;
            position: number;
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000060",
         *       "type": "category.updated",
         *       "timestamp": "2026-03-01T12:05:00.000Z",
         *       "livemode": true,
         *       "data": {
         *         "id": "0198c7a0-0000-7000-8000-000000000006",
         *         "name": "Shirts",
         *         "slug": "shirts",
         *         "parent": null,
         *         "position": 0
         *       }
         *     }
         */
        CategoryUpdatedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "category.updated";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["CategoryData"];
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000060",
         *       "type": "category.deleted",
         *       "timestamp": "2026-03-01T12:05:00.000Z",
         *       "livemode": true,
         *       "data": {
         *         "id": "0198c7a0-0000-7000-8000-000000000006",
         *         "name": "Shirts",
         *         "slug": "shirts",
         *         "parent": null,
         *         "position": 0
         *       }
         *     }
         */
        CategoryDeletedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "category.deleted";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["CategoryData"];
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000060",
         *       "type": "tag.created",
         *       "timestamp": "2026-03-01T12:05:00.000Z",
         *       "livemode": true,
         *       "data": {
         *         "id": "0198c7a0-0000-7000-8000-000000000005",
         *         "name": "Summer",
         *         "slug": "summer"
         *       }
         *     }
         */
        TagCreatedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "tag.created";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["TagData"];
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000005",
         *       "name": "Summer",
         *       "slug": "summer"
         *     }
         */
        TagData: {
            /** Format: uuid */
            id: string;
            name: string;
            slug: string;
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000060",
         *       "type": "tag.deleted",
         *       "timestamp": "2026-03-01T12:05:00.000Z",
         *       "livemode": true,
         *       "data": {
         *         "id": "0198c7a0-0000-7000-8000-000000000005",
         *         "name": "Summer",
         *         "slug": "summer"
         *       }
         *     }
         */
        TagDeletedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "tag.deleted";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["TagData"];
        };
        BundleUpdatedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "bundle.updated";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["Bundle"];
        };
        Bundle: {
            /** Format: uuid */
            id: string;
            members: components["schemas"]["BundleMember"][];
        } & {
            [key: string]: unknown;
        };
        BundleMember: {
            product_variant?: string | null;
            price: components["schemas"]["MoneyMap"] | null;
        } & {
            [key: string]: unknown;
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000060",
         *       "type": "customer.created",
         *       "timestamp": "2026-03-01T12:05:00.000Z",
         *       "livemode": true,
         *       "data": {
         *         "id": "0198c7a0-0000-7000-8000-000000000020",
         *         "firstname": "Ada",
         *         "lastname": "Lovelace",
         *         "email": "ada@example.com",
         *         "phone": null,
         *         "note": null,
         *         "created_at": "2026-03-01T12:00:00.000Z",
         *         "updated_at": "2026-03-01T12:00:00.000Z"
         *       }
         *     }
         */
        CustomerCreatedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "customer.created";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["CustomerData"];
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000020",
         *       "firstname": "Ada",
         *       "lastname": "Lovelace",
         *       "email": "ada@example.com",
         *       "phone": null,
         *       "note": null,
         *       "created_at": "2026-03-01T12:00:00.000Z",
         *       "updated_at": "2026-03-01T12:00:00.000Z"
         *     }
         */
        CustomerData: {
            /** Format: uuid */
            id: string;
            firstname: string;
            lastname: string | null;
            email: string | null;
            phone: string | null;
            note: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000060",
         *       "type": "customer.updated",
         *       "timestamp": "2026-03-01T12:05:00.000Z",
         *       "livemode": true,
         *       "data": {
         *         "id": "0198c7a0-0000-7000-8000-000000000020",
         *         "firstname": "Ada",
         *         "lastname": "Lovelace",
         *         "email": "ada@example.com",
         *         "phone": null,
         *         "note": null,
         *         "created_at": "2026-03-01T12:00:00.000Z",
         *         "updated_at": "2026-03-01T12:00:00.000Z"
         *       }
         *     }
         */
        CustomerUpdatedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "customer.updated";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["CustomerData"];
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000060",
         *       "type": "order.created",
         *       "timestamp": "2026-03-01T12:05:00.000Z",
         *       "livemode": true,
         *       "data": {
         *         "id": "0198c7a0-0000-7000-8000-000000000030",
         *         "order_number": "1001",
         *         "status": "PLACED",
         *         "payment_status": "UNPAID",
         *         "fulfillment_status": "UNFULFILLED",
         *         "sales_channel": "storefront",
         *         "currency": "EUR",
         *         "customer": {
         *           "id": "0198c7a0-0000-7000-8000-000000000020",
         *           "name": "Ada Lovelace",
         *           "email": "ada@example.com"
         *         },
         *         "items": [
         *           {
         *             "id": "0198c7a0-0000-7000-8000-000000000031",
         *             "title": "Linen shirt - M",
         *             "sku": "LINEN-M",
         *             "quantity": 2,
         *             "unit_price": 4900,
         *             "negotiated_unit_price": null,
         *             "total_price": 9800
         *           }
         *         ],
         *         "subtotal_price": 9800,
         *         "total_shipping": 500,
         *         "total_tax": 0,
         *         "total_discount": 0,
         *         "total_price": 10300,
         *         "total_items": 2,
         *         "shipping_address": {
         *           "street": "12 Analytical Row",
         *           "city": "London"
         *         },
         *         "note": null,
         *         "order_datetime": "2026-03-01T12:00:00.000Z",
         *         "promise_date": "2026-03-08"
         *       }
         *     }
         */
        OrderCreatedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "order.created";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["OrderData"];
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000030",
         *       "order_number": "1001",
         *       "status": "PLACED",
         *       "payment_status": "UNPAID",
         *       "fulfillment_status": "UNFULFILLED",
         *       "sales_channel": "storefront",
         *       "currency": "EUR",
         *       "customer": {
         *         "id": "0198c7a0-0000-7000-8000-000000000020",
         *         "name": "Ada Lovelace",
         *         "email": "ada@example.com"
         *       },
         *       "items": [
         *         {
         *           "id": "0198c7a0-0000-7000-8000-000000000031",
         *           "title": "Linen shirt - M",
         *           "sku": "LINEN-M",
         *           "quantity": 2,
         *           "unit_price": 4900,
         *           "negotiated_unit_price": null,
         *           "total_price": 9800
         *         }
         *       ],
         *       "subtotal_price": 9800,
         *       "total_shipping": 500,
         *       "total_tax": 0,
         *       "total_discount": 0,
         *       "total_price": 10300,
         *       "total_items": 2,
         *       "shipping_address": {
         *         "street": "12 Analytical Row",
         *         "city": "London"
         *       },
         *       "note": null,
         *       "order_datetime": "2026-03-01T12:00:00.000Z",
         *       "promise_date": "2026-03-08"
         *     }
         */
        OrderData: {
            /** Format: uuid */
            id: string;
            order_number: string;
            /** @enum {string} */
            status: "CART" | "PLACED" | "COMPLETED" | "CANCELLED";
            /** @enum {string} */
            payment_status: "UNPAID" | "PARTIALLY_PAID" | "PAID" | "REFUNDED";
            /** @enum {string} */
            fulfillment_status: "UNFULFILLED" | "PARTIALLY_FULFILLED" | "FULFILLED";
            sales_channel: string | null;
            currency: string;
            customer: components["schemas"]["OrderCustomer"] | null;
            items: components["schemas"]["OrderItem"][];
            subtotal_price: number;
            total_shipping: number;
            total_tax: number;
            total_discount: number;
            total_price: number;
            total_items: number;
            shipping_address: {
                [key: string]: unknown;
            } | null;
            note: string | null;
            /** Format: date-time */
            order_datetime: string;
            promise_date: string | null;
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000060",
         *       "type": "order.updated",
         *       "timestamp": "2026-03-01T12:05:00.000Z",
         *       "livemode": true,
         *       "data": {
         *         "id": "0198c7a0-0000-7000-8000-000000000030",
         *         "order_number": "1001",
         *         "status": "PLACED",
         *         "payment_status": "UNPAID",
         *         "fulfillment_status": "UNFULFILLED",
         *         "sales_channel": "storefront",
         *         "currency": "EUR",
         *         "customer": {
         *           "id": "0198c7a0-0000-7000-8000-000000000020",
         *           "name": "Ada Lovelace",
         *           "email": "ada@example.com"
         *         },
         *         "items": [
         *           {
         *             "id": "0198c7a0-0000-7000-8000-000000000031",
         *             "title": "Linen shirt - M",
         *             "sku": "LINEN-M",
         *             "quantity": 2,
         *             "unit_price": 4900,
         *             "negotiated_unit_price": null,
         *             "total_price": 9800
         *           }
         *         ],
         *         "subtotal_price": 9800,
         *         "total_shipping": 500,
         *         "total_tax": 0,
         *         "total_discount": 0,
         *         "total_price": 10300,
         *         "total_items": 2,
         *         "shipping_address": {
         *           "street": "12 Analytical Row",
         *           "city": "London"
         *         },
         *         "note": null,
         *         "order_datetime": "2026-03-01T12:00:00.000Z",
         *         "promise_date": "2026-03-08"
         *       }
         *     }
         */
        OrderUpdatedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "order.updated";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["OrderData"];
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000060",
         *       "type": "order.paid",
         *       "timestamp": "2026-03-01T12:05:00.000Z",
         *       "livemode": true,
         *       "data": {
         *         "id": "0198c7a0-0000-7000-8000-000000000030",
         *         "order_number": "1001",
         *         "status": "PLACED",
         *         "payment_status": "UNPAID",
         *         "fulfillment_status": "UNFULFILLED",
         *         "sales_channel": "storefront",
         *         "currency": "EUR",
         *         "customer": {
         *           "id": "0198c7a0-0000-7000-8000-000000000020",
         *           "name": "Ada Lovelace",
         *           "email": "ada@example.com"
         *         },
         *         "items": [
         *           {
         *             "id": "0198c7a0-0000-7000-8000-000000000031",
         *             "title": "Linen shirt - M",
         *             "sku": "LINEN-M",
         *             "quantity": 2,
         *             "unit_price": 4900,
         *             "negotiated_unit_price": null,
         *             "total_price": 9800
         *           }
         *         ],
         *         "subtotal_price": 9800,
         *         "total_shipping": 500,
         *         "total_tax": 0,
         *         "total_discount": 0,
         *         "total_price": 10300,
         *         "total_items": 2,
         *         "shipping_address": {
         *           "street": "12 Analytical Row",
         *           "city": "London"
         *         },
         *         "note": null,
         *         "order_datetime": "2026-03-01T12:00:00.000Z",
         *         "promise_date": "2026-03-08"
         *       }
         *     }
         */
        OrderPaidEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "order.paid";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["OrderData"];
        };
        InvoicePaidEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "invoice.paid";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["InvoiceData"];
        };
        InvoiceData: {
            /** Format: uuid */
            id: string;
            number: string;
            /** Format: uuid */
            order: string;
            currency: string;
            total: number;
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000060",
         *       "type": "fulfillment.created",
         *       "timestamp": "2026-03-01T12:05:00.000Z",
         *       "livemode": true,
         *       "data": {
         *         "id": "0198c7a0-0000-7000-8000-000000000034",
         *         "order": "0198c7a0-0000-7000-8000-000000000030",
         *         "items": [
         *           {
         *             "id": "0198c7a0-0000-7000-8000-000000000031",
         *             "quantity": 2
         *           }
         *         ],
         *         "created_at": "2026-03-02T09:00:00.000Z"
         *       }
         *     }
         */
        FulfillmentCreatedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "fulfillment.created";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["FulfillmentData"];
        };
        /**
         * @example {
         *       "id": "0198c7a0-0000-7000-8000-000000000034",
         *       "order": "0198c7a0-0000-7000-8000-000000000030",
         *       "items": [
         *         {
         *           "id": "0198c7a0-0000-7000-8000-000000000031",
         *           "quantity": 2
         *         }
         *       ],
         *       "created_at": "2026-03-02T09:00:00.000Z"
         *     }
         */
        FulfillmentData: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            order: string;
            items: components["schemas"]["FulfillmentItem"][];
            /** Format: date-time */
            created_at: string;
        };
        ComponentCreatedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "component.created";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["Component"];
        };
        Component: {
            /** Format: uuid */
            id: string;
            name: string;
            category: string | null;
            status: string;
            unit_of_measure: string | null;
            track_stock: boolean;
            available_stock: number | null;
        };
        ComponentUpdatedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "component.updated";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["Component"];
        };
        ComponentDeletedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "component.deleted";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["DeletedComponent"];
        };
        DeletedComponent: {
            /** Format: uuid */
            id: string;
            name?: string;
            category?: string | null;
            status?: string;
            unit_of_measure?: string | null;
            track_stock?: boolean;
            available_stock?: number | null;
        };
        SupplierCreatedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "supplier.created";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["Supplier"];
        };
        Supplier: {
            /** Format: uuid */
            id: string;
            name: string;
            email: string | null;
            telephone: string | null;
            roles: string[];
        };
        SupplierUpdatedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "supplier.updated";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["Supplier"];
        };
        SupplierDeletedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "supplier.deleted";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["DeletedSupplier"];
        };
        DeletedSupplier: {
            /** Format: uuid */
            id: string;
            name?: string;
            email?: string | null;
            telephone?: string | null;
            roles?: string[];
        };
        ExpenseCreatedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "expense.created";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["Expense"];
        };
        Expense: {
            /** Format: uuid */
            id: string;
        } & {
            [key: string]: unknown;
        };
        ExpenseUpdatedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "expense.updated";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["Expense"];
        };
        ExpenseDeletedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "expense.deleted";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["Deleted"];
        };
        PaymentMilestoneTemplateCreatedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "payment_milestone_template.created";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["PaymentMilestoneTemplate"];
        };
        PaymentMilestoneTemplate: {
            /** Format: uuid */
            id: string;
            name: string;
            splits: components["schemas"]["PaymentMilestone"][];
            is_default: boolean;
        };
        PaymentMilestone: {
            label: string;
            pct: number;
        };
        PaymentMilestoneTemplateUpdatedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "payment_milestone_template.updated";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["PaymentMilestoneTemplate"];
        };
        PaymentMilestoneTemplateDeletedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "payment_milestone_template.deleted";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["DeletedPaymentMilestoneTemplate"];
        };
        DeletedPaymentMilestoneTemplate: {
            /** Format: uuid */
            id: string;
            name?: string;
            splits?: components["schemas"]["PaymentMilestone"][];
            is_default?: boolean;
        };
        StockCountClosedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "stock_count.closed";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["StockCount"];
        };
        StockCount: {
            /** Format: uuid */
            id: string;
        } & {
            [key: string]: unknown;
        };
        StockPoolAdjustedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "stock_pool.adjusted";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["StockPoolAdjustment"];
        };
        StockPoolAdjustment: {
            /** Format: uuid */
            id: string;
            from_pool: components["schemas"]["StockPool"];
            to_pool: components["schemas"]["StockPool"];
            lines: components["schemas"]["StockPoolLine"][];
            note: string | null;
            /** Format: date-time */
            moved_at: string;
        };
        StockPool: {
            /** Format: uuid */
            id: string;
            code: string;
        };
        StockPoolLine: {
            /** Format: uuid */
            variant_id: string;
            sku: string | null;
            label: string | null;
            qty: number;
        };
        AssistantTaskCreatedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "assistant_task.created";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["AssistantTask"];
        };
        AssistantTask: {
            /** Format: uuid */
            id: string;
            source: string;
            type: string;
            category: string | null;
            status: string;
            title: string;
            value_line: string | null;
            count_total: number | null;
            count_remaining: number | null;
            amount_minor: number | null;
            currency: string | null;
            proposal_status: string | null;
            assignee: string | null;
            snoozed_until: string | null;
            resolved_by: string | null;
            resolved_at: string | null;
        };
        AssistantTaskUpdatedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "assistant_task.updated";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["AssistantTask"];
        };
        ImportCompletedEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "import.completed";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["ImportData"];
        };
        ImportData: {
            /** Format: uuid */
            id: string;
            template: components["schemas"]["ImportTemplateKey"];
            /** @enum {string} */
            status: "UPLOADED" | "VALIDATING" | "VALIDATED" | "INVALID" | "IMPORTING" | "COMPLETED" | "COMPLETED_WITH_ERRORS" | "FAILED" | "CANCELLED";
            summary: components["schemas"]["ImportCounts"];
        };
        ImportCounts: {
            total_rows: number;
            valid_rows: number;
            invalid_rows: number;
            created: number;
            updated: number;
            failed: number;
        };
        WebhookPingEvent: {
            /** Format: uuid */
            id: string;
            /** @constant */
            type: "webhook.ping";
            /** Format: date-time */
            timestamp: string;
            livemode: boolean;
            data: components["schemas"]["PingData"];
        };
        PingData: {
            /** Format: uuid */
            id: string;
        };
    };
    responses: {
        /** @description `bad_request`: The request is malformed or does not fit its schema; `message` names the member */
        bad_request: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `invalid_api_key`: The API key is missing, wrong, expired or revoked, or its workspace is suspended */
        invalid_api_key: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `insufficient_scope`: The API key lacks the scope of the operation */
        insufficient_scope: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `not_found`: The workspace has no such resource */
        not_found: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `conflict`: The request clashes with what exists, or its Idempotency-Key was used for another one */
        conflict: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `payload_too_large`: The body is too large */
        payload_too_large: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `unsupported_media_type`: The body has another Content-Type than the operation takes */
        unsupported_media_type: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `unprocessable`: The request is well-formed and cannot be applied; nothing was applied */
        unprocessable: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `rate_limited`: Too many requests of the key, or too many at once of the workspace; `Retry-After` says when to try again */
        rate_limited: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `internal_error`: Something went wrong on our side */
        internal_error: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `service_unavailable`: A part of the system does not answer now; try again after `Retry-After` seconds */
        service_unavailable: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `gateway_timeout`: The service did not answer in time; the request may have been applied */
        gateway_timeout: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: {
        /** @description Names the request, so that sending it again within 24 hours does nothing twice and gets the first answer, or `conflict` where that held a secret. */
        IdempotencyKey: string;
        /** @description The event's `id`. The same event can arrive more than once. */
        WebhookId: string;
        /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
        WebhookTimestamp: string;
        /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
        WebhookSignature: string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listProducts: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                size?: number;
                status?: "ACTIVE" | "HIDDEN" | "ARCHIVED";
                type?: "SIMPLE_PRODUCT" | "VARIABLE_PRODUCT" | "VIRTUAL_PRODUCT";
                category?: string;
                tag?: string;
                sku?: string;
                query?: string;
                updated_since?: string;
                sort_by?: "createdAt" | "created_at" | "updatedAt" | "updated_at" | "name";
                sort_order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProductPage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    createProduct: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request, so that sending it again within 24 hours does nothing twice and gets the first answer, or `conflict` where that held a secret. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProductInput"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Product"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    getProduct: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Product"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    updateProduct: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProductUpdate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Product"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    deleteProduct: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    createVariant: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request, so that sending it again within 24 hours does nothing twice and gets the first answer, or `conflict` where that held a secret. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VariantInput"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Variant"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    updateVariant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                variant_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VariantUpdate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Variant"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    deleteVariant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                variant_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    listCategories: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                size?: number;
                parent?: "none" | string;
                slug?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CategoryPage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    createCategory: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request, so that sending it again within 24 hours does nothing twice and gets the first answer, or `conflict` where that held a secret. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CategoryInput"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Category"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    updateCategory: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CategoryUpdate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Category"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    deleteCategory: {
        parameters: {
            query?: {
                reassign_to?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    listTags: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                size?: number;
                query?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TagPage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    deleteTag: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    uploadAsset: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request, so that sending it again within 24 hours does nothing twice and gets the first answer, or `conflict` where that held a secret. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description At most 20971520 bytes
                     */
                    file: string;
                };
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Asset"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    listCollections: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                size?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CollectionPage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    createCollection: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request, so that sending it again within 24 hours does nothing twice and gets the first answer, or `conflict` where that held a secret. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CollectionInput"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Collection"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    getCollection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                handle: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Collection"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    updateCollection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                handle: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CollectionUpdate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Collection"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    deleteCollection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                handle: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    previewCollectionRules: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                size?: number;
            };
            header?: {
                /** @description Names the request, so that sending it again within 24 hours does nothing twice and gets the first answer, or `conflict` where that held a secret. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RulesPreviewInput"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProductPage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    explainCollectionMembership: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                handle: string;
                product_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RulesExplanation"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    listCollectionProducts: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                size?: number;
                after?: string;
            };
            header?: never;
            path: {
                handle: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProductPage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    addProductsToCollection: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request, so that sending it again within 24 hours does nothing twice and gets the first answer, or `conflict` where that held a secret. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                handle: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CollectionProducts"];
            };
        };
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    removeProductsFromCollection: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                handle: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CollectionProducts"];
            };
        };
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    reorderCollectionProducts: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                handle: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CollectionOrder"];
            };
        };
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    listCustomers: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                size?: number;
                email?: string;
                query?: string;
                sort_by?: "createdAt" | "created_at" | "updatedAt" | "updated_at" | "name";
                sort_order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CustomerPage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    createCustomer: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request, so that sending it again within 24 hours does nothing twice and gets the first answer, or `conflict` where that held a secret. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CustomerInput"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Customer"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    getCustomer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Customer"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    updateCustomer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CustomerUpdate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Customer"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    deleteCustomer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    listOrders: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                size?: number;
                status?: "CART" | "PLACED" | "COMPLETED" | "CANCELLED";
                payment_status?: "UNPAID" | "PARTIALLY_PAID" | "PAID" | "REFUNDED";
                fulfillment_status?: "UNFULFILLED" | "PARTIALLY_FULFILLED" | "FULFILLED";
                customer?: string;
                sales_channel?: string;
                order_number?: string;
                since?: string;
                until?: string;
                sort_by?: "createdAt" | "created_at" | "updatedAt" | "updated_at";
                sort_order?: "asc" | "desc";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderPage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    createOrder: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request, so that sending it again within 24 hours does nothing twice and gets the first answer, or `conflict` where that held a secret. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OrderInput"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Order"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    getOrder: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Order"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    updateOrder: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OrderUpdate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Order"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    getOrderFormSchema: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderFormSchema"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    updateOrderFormSchema: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OrderFormSchema"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrderFormSchema"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    getSubmittedOrderForm: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    listOrderPayments: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                size?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentPage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    recordOrderPayment: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request, so that sending it again within 24 hours does nothing twice and gets the first answer, or `conflict` where that held a secret. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PaymentInput"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Payment"];
                };
            };
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Payment"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    createOrderCheckout: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request, so that sending it again within 24 hours does nothing twice and gets the first answer, or `conflict` where that held a secret. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CheckoutInput"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckoutSession"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    listOrderInvoices: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                size?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvoicePage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    createOrderInvoice: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request, so that sending it again within 24 hours does nothing twice and gets the first answer, or `conflict` where that held a secret. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invoice"];
                };
            };
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invoice"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    listOrderFulfillments: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                size?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FulfillmentPage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    createOrderFulfillment: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request, so that sending it again within 24 hours does nothing twice and gets the first answer, or `conflict` where that held a secret. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["FulfillmentInput"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Fulfillment"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    listImportTemplates: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportTemplateList"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    getImportTemplateFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key: "products" | "product_variants" | "stock" | "categories" | "customers" | "collections";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv; charset=utf-8": string;
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    listImports: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                size?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportPage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    uploadImport: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request, so that sending it again within 24 hours does nothing twice and gets the first answer, or `conflict` where that held a secret. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": {
                    /** @enum {string} */
                    template: "products" | "product_variants" | "stock" | "categories" | "customers" | "collections";
                    /**
                     * Format: binary
                     * @description At most 1073741824 bytes
                     */
                    file: string;
                };
            };
        };
        responses: {
            /** @description Success */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Import"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    getImport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Import"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    startImport: {
        parameters: {
            query?: {
                skip_invalid?: "true" | "false";
            };
            header?: {
                /** @description Names the request, so that sending it again within 24 hours does nothing twice and gets the first answer, or `conflict` where that held a secret. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Import"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    cancelImport: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request, so that sending it again within 24 hours does nothing twice and gets the first answer, or `conflict` where that held a secret. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Import"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    followImport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    getImportReport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportReport"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    getImportErrorsFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv; charset=utf-8": string;
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    getImportCorrectedFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv; charset=utf-8": string;
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    getImportDiff: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportDiff"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    getImportUndo: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportUndo"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    undoImport: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request, so that sending it again within 24 hours does nothing twice and gets the first answer, or `conflict` where that held a secret. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportUndo"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    listApps: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                size?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppPage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    getApp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                provider: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["App"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    listWebhookEndpoints: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                size?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpointPage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    createWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request, so that sending it again within 24 hours does nothing twice and gets the first answer, or `conflict` where that held a secret. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookEndpointInput"];
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpointWithSecret"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    getWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    updateWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookEndpointUpdate"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    deleteWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request, so that sending it again within 24 hours does nothing twice and gets the first answer, or `conflict` where that held a secret. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SecretRotation"];
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpointWithSecret"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    pingWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request, so that sending it again within 24 hours does nothing twice and gets the first answer, or `conflict` where that held a secret. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    recoverWebhookDeliveries: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request, so that sending it again within 24 hours does nothing twice and gets the first answer, or `conflict` where that held a secret. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RecoveryInput"];
            };
        };
        responses: {
            /** @description Success */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Recovery"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            415: components["responses"]["unsupported_media_type"];
            422: components["responses"]["unprocessable"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    listWebhookEventTypes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventTypeList"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                page?: number;
                limit?: number;
                size?: number;
                status?: "PENDING" | "DELIVERED" | "FAILED";
                event_type?: string;
                event_id?: string;
                since?: string;
                until?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryPage"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    getWebhookDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryDetail"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    resendWebhookDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description Names the request, so that sending it again within 24 hours does nothing twice and gets the first answer, or `conflict` where that held a secret. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
            400: components["responses"]["bad_request"];
            401: components["responses"]["invalid_api_key"];
            403: components["responses"]["insufficient_scope"];
            404: components["responses"]["not_found"];
            409: components["responses"]["conflict"];
            429: components["responses"]["rate_limited"];
            500: components["responses"]["internal_error"];
            503: components["responses"]["service_unavailable"];
            504: components["responses"]["gateway_timeout"];
        };
    };
    onProductCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProductCreatedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onProductUpdated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProductUpdatedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onProductDeleted: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProductDeletedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onCollectionCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CollectionCreatedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onCollectionUpdated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CollectionUpdatedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onCollectionDeleted: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CollectionDeletedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onCategoryCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CategoryCreatedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onCategoryUpdated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CategoryUpdatedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onCategoryDeleted: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CategoryDeletedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onTagCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TagCreatedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onTagDeleted: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TagDeletedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onBundleUpdated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BundleUpdatedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onCustomerCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CustomerCreatedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onCustomerUpdated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CustomerUpdatedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onOrderCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OrderCreatedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onOrderUpdated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OrderUpdatedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onOrderPaid: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OrderPaidEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onInvoicePaid: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvoicePaidEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onFulfillmentCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FulfillmentCreatedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onComponentCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ComponentCreatedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onComponentUpdated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ComponentUpdatedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onComponentDeleted: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ComponentDeletedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onSupplierCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SupplierCreatedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onSupplierUpdated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SupplierUpdatedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onSupplierDeleted: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SupplierDeletedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onExpenseCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExpenseCreatedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onExpenseUpdated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExpenseUpdatedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onExpenseDeleted: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExpenseDeletedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onPaymentMilestoneTemplateCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PaymentMilestoneTemplateCreatedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onPaymentMilestoneTemplateUpdated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PaymentMilestoneTemplateUpdatedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onPaymentMilestoneTemplateDeleted: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PaymentMilestoneTemplateDeletedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onStockCountClosed: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StockCountClosedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onStockPoolAdjusted: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StockPoolAdjustedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onAssistantTaskCreated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AssistantTaskCreatedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onAssistantTaskUpdated: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AssistantTaskUpdatedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onImportCompleted: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ImportCompletedEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    onWebhookPing: {
        parameters: {
            query?: never;
            header: {
                /** @description The event's `id`. The same event can arrive more than once. */
                "Webhook-Id": components["parameters"]["WebhookId"];
                /** @description The Unix second at which this attempt was signed. Refuse one that is minutes old. */
                "Webhook-Timestamp": components["parameters"]["WebhookTimestamp"];
                /** @description HMAC-SHA256 of `{Webhook-Id}.{Webhook-Timestamp}.{raw body}` with the decoded bytes of the endpoint's secret, as `v1,<hex>`. There may be several, with spaces between; one that fits is enough. */
                "Webhook-Signature": components["parameters"]["WebhookSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookPingEvent"];
            };
        };
        responses: {
            /** @description Within 20 seconds: delivered */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Anything else, or none within 20 seconds: sent again after 1 minute, 5 minutes, 30 minutes, 2 and 6 hours */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
