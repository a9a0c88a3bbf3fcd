'use strict';

const sanitizeHtml = require('sanitize-html');

function html(input) {
  return sanitizeHtml(String(input || ''), {
    allowedTags: ['p', 'a', 'em', 'strong', 'blockquote', 'ul', 'ol', 'li', 'code', 'pre'],
    allowedAttributes: { a: ['href'] },
    allowedSchemes: ['http', 'https', 'mailto'],
  });
}

module.exports = { html };
