const image = await everything.get_tiny_image({});
return atob(image[1].base64).length;
